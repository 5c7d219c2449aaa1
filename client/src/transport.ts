import { baseOf } from './base-url.ts';
import { errorOf, ForecueError } from './errors.ts';
import { Retries } from './retry.ts';

/** Options of every client. */
export interface ClientOptions {
  /** The server's address, with a path where it has one: `https://forecue.example.com`. */
  baseUrl: string | URL;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch;
  /** Most retries of a call; 3. */
  retries?: number;
  /** Milliseconds for a call with its retries; 30,000, and 300,000 for jobs. */
  timeoutMs?: number;
}

export interface CallOptions {
  /** Ends the call, and on the server what it had started. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
  retries?: number;
  /** The name under which the server knows a repeated request; made for each call that takes one. */
  idempotencyKey?: string;
  /** Sees each answer, with its headers, before it is read. */
  onResponse?: (response: Response) => void;
}

/** A request, however often it is sent. */
export interface Request {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** The server recognises it when it comes again. */
  repeatable: boolean;
  timeoutMs?: number;
  /** The page may go away: the request is sent nevertheless. */
  keepalive?: boolean;
}

/** The source of a call's credential. */
export interface Credentials {
  headers(): Promise<Record<string, string>> | Record<string, string>;
  /** A call with these headers was answered 401: resolves with whether there is another credential now. */
  renew?(refused: Record<string, string>): Promise<boolean>;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 3;

/** Sends requests, with their retries. */
export class Transport {
  readonly #base: string;
  readonly #options: ClientOptions;
  readonly #credentials: Credentials;
  readonly #retries = new Retries();

  /** Throws a `TypeError` for a base URL that cannot be one. */
  constructor(options: ClientOptions, credentials: Credentials) {
    this.#base = baseOf(options.baseUrl);
    this.#options = options;
    this.#credentials = credentials;
  }

  /**
   * The answer, as `read` makes it of a success. Rejects with a `ForecueError`, or with the signal's reason as soon as that
   * is aborted: a request that is under way then runs on, so that the caller can cancel what it started.
   */
  async send<T>(
    request: Request,
    options: CallOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { signal } = options;
    signal?.throwIfAborted();
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? request.timeoutMs ?? TIMEOUT_MS;
    const most = options.retries ?? this.#options.retries ?? RETRIES;
    const late = performance.now() + timeoutMs;
    for (let attempt = 0, renewed = false; ; ) {
      const headers = { ...(await this.#credentials.headers()), ...request.headers };
      signal?.throwIfAborted();
      try {
        return await this.#attempt(request, headers, options, late, read);
      } catch (error) {
        signal?.throwIfAborted();
        if (isUnauthorized(error) && !renewed && (await this.#credentials.renew?.(headers))) {
          renewed = true;
          continue;
        }
        const pause = attempt < most ? this.#retries.pause(error, attempt, request.repeatable) : undefined;
        if (pause === undefined || performance.now() + pause >= late) throw error;
        attempt += 1;
        await sleep(pause, signal);
      }
    }
  }

  async #attempt<T>(
    { method, path, body, keepalive }: Request,
    headers: Record<string, string>,
    { signal, onResponse }: CallOptions,
    late: number,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(), late - performance.now());
    const call = this.#options.fetch ?? fetch;
    try {
      const response = await call(this.#base + path, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        signal: signal ? AbortSignal.any([signal, ended.signal]) : ended.signal,
        // Elsewhere, a credential in a header of its own would be sent along.
        redirect: 'manual',
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(keepalive && { keepalive }),
      });
      onResponse?.(response);
      if (!response.ok) throw await errorOf(response);
      const answer = await read(response);
      this.#retries.earn();
      return answer;
    } catch (error) {
      if (error instanceof ForecueError) throw error;
      if (ended.signal.aborted) throw new ForecueError('timeout', { cause: error });
      // Neither names the address: it may hold what a person wrote.
      throw new ForecueError('network_error', {
        message: 'no answer came, or only a part of one',
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The body of a success. Anything but JSON is not Forecue's. */
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

/** Rejects with the signal's reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
      settle();
    };
    const aborted = done(() => reject(signal?.reason));
    const timer = setTimeout(done(resolve), ms);
    signal?.addEventListener('abort', aborted);
  });
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof ForecueError && error.status === 401;
}
