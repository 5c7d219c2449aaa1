import { baseOf } from './base-url.ts';
import { errorOf, ForecueError } from './errors.ts';
import { Retries } from './retry.ts';

export interface ClientOptions {
  /** Address of the server, with its path if it has one: `https://forecue.example.com`. Undefined is a `TypeError`. */
  baseUrl: string | URL | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
  /** Maximum number of retries of a call; 3 by default. */
  retries?: number;
  /** Time limit of a call with its retries: by default 30,000 ms, for a reply 60,000, for a job 300,000. */
  timeoutMs?: number;
}

export interface CallOptions {
  /** Aborts the call. Also cancels, on the server, a `/v1` prediction and a job that the call waits for or follows. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
  retries?: number;
  /** Key by which the server recognises a repeated request. By default generated for each call that takes a key. */
  idempotencyKey?: string | undefined;
  /** Leaves out what the person said in other projects: a name, the path of a folder or the address of a repository. */
  project?: string | undefined;
  /** Called with each answer, before its body is read. */
  onResponse?: (response: Response) => void;
}

export interface Request {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** True if the server recognises the request when it is sent again. */
  repeatable: boolean;
  timeoutMs?: number;
  /** Sends the request even if the page is closed. */
  keepalive?: boolean;
}

export interface Credentials {
  headers(): Promise<Record<string, string>> | Record<string, string>;
  /** Called with the headers of a request that got a 401. Resolves with true if there is a new credential. */
  renew?(refused: Record<string, string>): Promise<boolean>;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 3;
/** Longest delay that `setTimeout` supports; with a longer one it fires at once. */
const TIMER_MAX_MS = 2 ** 31 - 1;

export class Transport {
  readonly #base: string;
  readonly #options: ClientOptions;
  readonly #credentials: Credentials;
  readonly #retries = new Retries();

  /** Throws a `TypeError` for an invalid base URL. */
  constructor(options: ClientOptions, credentials: Credentials) {
    this.#base = baseOf(options.baseUrl);
    this.#options = options;
    this.#credentials = credentials;
  }

  /** Resolves with the result of `read` for a 2xx response. Rejects with a `ForecueError` or the signal's reason. */
  async send<T>(
    request: Request,
    options: CallOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { signal } = options;
    signal?.throwIfAborted();
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? request.timeoutMs ?? TIMEOUT_MS;
    const maxRetries = options.retries ?? this.#options.retries ?? RETRIES;
    const deadline = performance.now() + timeoutMs;
    for (let attempt = 0, isRenewed = false; ; ) {
      const headers = {
        ...(await settleInTime(this.#credentials.headers(), deadline, signal)),
        ...request.headers,
        ...(options.project !== undefined && { 'forecue-project': encodeURIComponent(options.project) }),
      };
      signal?.throwIfAborted();
      try {
        return await this.#attempt(request, headers, options, deadline, read);
      } catch (error) {
        signal?.throwIfAborted();
        if (
          isUnauthorized(error) &&
          !isRenewed &&
          (await settleInTime(this.#credentials.renew?.(headers), deadline, signal))
        ) {
          isRenewed = true;
          continue;
        }
        if (attempt >= maxRetries) throw error;
        const leftMs = deadline - performance.now();
        const pause = this.#retries.takePause(error, attempt, request.repeatable, leftMs);
        if (pause === undefined) throw error;
        attempt += 1;
        await sleep(pause, signal);
      }
    }
  }

  async #attempt<T>(
    { method, path, body, keepalive }: Request,
    headers: Record<string, string>,
    { signal, onResponse }: CallOptions,
    deadline: number,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), Math.min(TIMER_MAX_MS, deadline - performance.now()));
    const fail = (cause: unknown): never => {
      if (cause instanceof ForecueError) throw cause;
      if (timeout.signal.aborted) throw new ForecueError('timeout', { cause });
      // The messages of both errors leave out the URL, because it may contain text that a person wrote.
      throw new ForecueError('network_error', { message: 'no answer came, or only a part of one', cause });
    };
    const call = this.#options.fetch ?? fetch;
    try {
      // `fail` is not applied to `onResponse`, whose errors are thrown unchanged.
      const response = await call(this.#base + path, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
        // On a redirect to another site, `fetch` would still send the header `x-service-api-key`.
        redirect: 'manual',
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(keepalive && { keepalive }),
      }).catch(fail);
      onResponse?.(response);
      const answer = await (response.ok ? read(response) : rejectWith(response)).catch(fail);
      this.#retries.earn();
      return answer;
    } finally {
      clearTimeout(timer);
    }
  }
}

async function rejectWith(response: Response): Promise<never> {
  throw await errorOf(response);
}

/** Throws `unexpected_response` if the body is not JSON: such an answer is not from Forecue. */
export async function readJson<T>(response: Response): Promise<T> {
  if (response.status === 204) return undefined as T;
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    const { status } = response;
    throw new ForecueError('unexpected_response', {
      status,
      message: `answered ${status}, but not with JSON`,
    });
  }
}

/**
 * Settles like `work`. If the signal aborts or `deadline` passes first, rejects, and lets `work` run on: a renewal of
 * tokens also serves other calls.
 */
async function settleInTime<T>(work: T | Promise<T>, deadline: number, signal?: AbortSignal): Promise<T> {
  if (!(work instanceof Promise)) return work;
  const settled = new AbortController();
  const timeUp = sleep(
    Math.min(TIMER_MAX_MS, deadline - performance.now()),
    AbortSignal.any([settled.signal, ...(signal ? [signal] : [])]),
  ).then(() => Promise.reject(new ForecueError('timeout')));
  return Promise.race([work, timeUp]).finally(() => settled.abort());
}

/** Rejects with the signal's reason when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settleWith = (settle: () => void) => () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = settleWith(() => reject(signal?.reason));
    const timer = setTimeout(settleWith(resolve), ms);
    signal?.addEventListener('abort', onAbort);
  });
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ForecueError && error.status === 401;
}
