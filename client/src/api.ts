import { abortable } from './abortable.ts';
import { ForecueError } from './errors.ts';
import { eventsIn, linesIn } from './event-stream.ts';
import { type ApiJobs, type ApiMethods, apiOperations } from './generated/api.ts';
import type { ChangesResponse, JobReceipt, LoginResponse } from './generated/schemas.ts';
import { follow, type JobEvent, type JobName, type StreamPosition } from './jobs.ts';
import { callOf, methodsOf, type OperationCall } from './methods.ts';
import { Session, type SessionOptions } from './session.ts';
import { type CallOptions, type ClientOptions, readJson, Transport } from './transport.ts';

export { type ErrorCode, type FieldFault, ForecueError, type Remedy } from './errors.ts';
export type * from './generated/schemas.ts';
export type { JobEvent } from './jobs.ts';
export type { TokenStorage, Tokens } from './session.ts';
export type { CallOptions, ClientOptions } from './transport.ts';

export interface AccountClientOptions extends ClientOptions, SessionOptions {}

/**
 * Client for an account (`/api`). Remembers the log-in after signing up or logging in, and forgets it after logging
 * out. Aborting a call that waits for a job, or follows it, also cancels the job on the server.
 */
export interface AccountClient extends ApiMethods {
  /** Starts a job without waiting for it. */
  start<Name extends JobName>(
    name: Name,
    body?: ApiJobs[Name]['body'],
    options?: CallOptions,
  ): Promise<JobReceipt>;
  /**
   * Starts a job and follows it to its end. A stream that is cut continues where it was. Leaving the loop does not
   * cancel the job: abort the signal for that.
   */
  stream<Name extends JobName>(
    name: Name,
    body?: ApiJobs[Name]['body'],
    options?: CallOptions,
  ): AsyncGenerator<JobEvent<ApiJobs[Name]['result']>>;
  /** Follows a job that was started before. */
  follow(jobId: string, options?: CallOptions): AsyncGenerator<JobEvent<object>>;
  /**
   * Yields what has changed of the account: everything at first, because nobody knows what has changed before. Ends
   * every few minutes; then call it again.
   */
  changes(options?: CallOptions): AsyncGenerator<ChangesResponse['changed']>;
  /** Stops the timer that renews the tokens, and stops listening to other tabs. */
  close(): void;
}

/** Operations that are safe to send twice, apart from reads and from those that take an idempotency key. */
const REPEATABLE_OPERATIONS: readonly string[] = [
  'logIn',
  'logOut',
  'refreshToken',
  'validateInvite',
  'joinWaitlist',
  'recordEvents',
  'assembleContext',
  'changeEpisode',
  'forgetMemory',
  'changeFact',
  'writeProfile',
  'giveFeedback',
  'cancelJob',
] satisfies (keyof ApiMethods)[];
const TIMEOUTS_MS = { keyed: 60_000, job: 300_000 };
const EVENT_STREAM_HEADERS = { accept: 'text/event-stream' };

/** Throws a `TypeError` for an invalid address or credential. */
export function createAccountClient(options: AccountClientOptions): AccountClient {
  const anonymousTransport = new Transport(options, { headers: () => ({}) });
  const session = new Session(options, async (refresh) => (await methods.refreshToken({ refresh })).access);
  const authenticatedTransport = new Transport(options, session);

  const send = <T>(
    { name, method, path, body, flags, options }: OperationCall,
    headers: Record<string, string> = {},
    read: (response: Response) => Promise<T> = readJson,
  ): Promise<T> => {
    const isKeyed = flags.includes('keyed');
    const timeoutMs = flags.includes('job') ? TIMEOUTS_MS.job : isKeyed ? TIMEOUTS_MS.keyed : undefined;
    const request = {
      method,
      path,
      body,
      repeatable: method === 'GET' || isKeyed || REPEATABLE_OPERATIONS.includes(name),
      headers: { ...(isKeyed && idempotencyHeaders(options)), ...headers },
      ...(timeoutMs !== undefined && { timeoutMs }),
    };
    return (flags.includes('open') ? anonymousTransport : authenticatedTransport).send<T>(
      request,
      options,
      read,
    );
  };
  /** Adds an idempotency key, so that a call that is sent twice does its work once. */
  const withKey = (call: OperationCall): OperationCall => ({
    ...call,
    options: { ...call.options, idempotencyKey: call.options.idempotencyKey ?? crypto.randomUUID() },
  });
  const cancel = async (call: OperationCall, jobId?: string) => {
    const { signal: _, ...options } = call.options;
    const foundId =
      jobId ?? (await send<JobReceipt>({ ...call, options }, { prefer: 'wait, respond-async' })).job_id;
    await methods.cancelJob(foundId);
  };

  const methods = methodsOf<ApiMethods>(apiOperations, (call) => {
    if (call.flags.includes('lines')) return lines(call);
    if (!call.flags.includes('keyed')) return send(call);
    const keyedCall = withKey(call);
    const { signal } = keyedCall.options;
    const answer = send(keyedCall, { prefer: 'wait' });
    if (signal === undefined || signal.aborted || !call.flags.includes('job')) return answer;
    return abortable(answer, signal, () => void cancel(keyedCall).catch(() => {}));
  });

  async function* lines(call: OperationCall): AsyncGenerator<unknown> {
    try {
      const response = await send(call, {}, async (response) => response);
      for await (const line of linesIn(response)) yield JSON.parse(line);
    } catch (cause) {
      call.options.signal?.throwIfAborted();
      throw cause instanceof ForecueError ? cause : new ForecueError('network_error', { cause });
    }
  }

  const stream = (call: OperationCall, headers: Record<string, string> = {}) =>
    send(call, { ...EVENT_STREAM_HEADERS, ...headers }, async (response) => response);

  async function* events<Result>(call: OperationCall, jobId?: string): AsyncGenerator<JobEvent<Result>> {
    const position: StreamPosition = { jobId, lastEventId: undefined };
    const { signal, ...options } = call.options;
    signal?.throwIfAborted();
    const open = ({ jobId, lastEventId }: StreamPosition) => {
      const headers: Record<string, string> =
        lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      if (jobId === undefined) return stream(call, { ...headers, prefer: 'wait' });
      return stream(callOf(apiOperations, 'readJob', [jobId, { signal, ...options }]), headers);
    };
    try {
      yield* follow<Result>(open, position, signal);
    } finally {
      // Runs also if the caller aborts and then leaves the loop: the next event is not asked for any more.
      if (signal?.aborted) cancel(call, position.jobId).catch(() => {});
    }
  }

  const adoptLogin = async (answer: Promise<LoginResponse>) => {
    const login = await answer;
    await session.adopt(login);
    return login;
  };
  const jobCall = (name: JobName, given: unknown[]) => withKey(callOf(apiOperations, name, given));
  return {
    ...methods,
    signUp: (...given) => adoptLogin(methods.signUp(...given)),
    logIn: (...given) => adoptLogin(methods.logIn(...given)),
    async logOut(body, options) {
      const refresh = await session.refreshToken();
      const answer = await methods.logOut(body ?? (refresh === undefined ? {} : { refresh }), options);
      await session.forget();
      return answer;
    },
    start: (name, ...given) => send(jobCall(name, given), { prefer: 'wait, respond-async' }),
    stream: (name, ...given) => events(jobCall(name, given)),
    follow: (jobId, options) => events(callOf(apiOperations, 'readJob', [jobId, options]), jobId),
    changes: (options) => changesIn(() => stream(callOf(apiOperations, 'readChanges', [options]))),
    close: () => session.close(),
  };
}

async function* changesIn(open: () => Promise<Response>): AsyncGenerator<ChangesResponse['changed']> {
  for await (const { data } of eventsIn(await open())) yield (JSON.parse(data) as ChangesResponse).changed;
}

/** Throws a `TypeError` for a key that no header can carry. */
function idempotencyHeaders({ idempotencyKey }: CallOptions): Record<string, string> {
  if (idempotencyKey === undefined) return {};
  if (!/^[\x20-\x7e]*$/.test(idempotencyKey))
    throw new TypeError('idempotencyKey: only printable characters of ASCII can be sent');
  return { 'idempotency-key': idempotencyKey };
}
