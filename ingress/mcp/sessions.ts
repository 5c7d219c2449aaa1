import { randomUUID } from 'node:crypto';
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { AppError } from '../../shared/errors/app-error.ts';
import { every } from '../../shared/timing/every.ts';

/**
 * Maximum sessions of one credential. A further session ends the least recently used idle one, or is refused if none is
 * idle.
 */
const SESSIONS_PER_CREDENTIAL_MAX = 100;
const SWEEP_EVERY_MS = 1000;
const RETRY_WHEN_FULL_S = 30;

/** Error of a cancelled request, as in the Language Server Protocol; JSON-RPC has no code for it. */
const CANCELLED_ERROR = { code: -32800, message: 'Request cancelled' };

export interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly credentialHash: string;
  /** True if the client asked for a revision of the protocol that has batches. */
  readonly allowsBatches: boolean;
  /** When its latest request ended, by `performance.now()`. */
  usedAt: number;
  /** Number of requests being answered. */
  running: number;
  /** Ids of the running requests that came in a batch. */
  readonly batched: Set<unknown>;
  /** True if `/api` has refused the session's credential. */
  isRefused: boolean;
}

/** The sessions of this process. A client whose session has ended can open a new one, and loses nothing. */
export class Sessions {
  readonly #byId = new Map<string, Session>();
  readonly #limits: { max: number; idleMs: number };
  readonly #sweep = every(SWEEP_EVERY_MS, () => this.#endIdle(), { ref: false });
  #openingCount = 0;

  constructor(limits: { max: number; idleMs: number }) {
    this.#limits = limits;
  }

  find(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  /**
   * Opens a session with its first request. If `answer` refuses the request, no session remains. Throws `overloaded`
   * when the process is full, or when the credential has its maximum of sessions with running requests.
   */
  async open<T>(
    { credentialHash, allowsBatches }: Pick<Session, 'credentialHash' | 'allowsBatches'>,
    server: Server,
    answer: (session: Session) => Promise<T>,
  ): Promise<T> {
    const runningSessions = this.#sessionsOf(credentialHash).filter(({ running }) => running > 0);
    const isFull = this.#byId.size + this.#openingCount >= this.#limits.max;
    if (isFull || runningSessions.length >= SESSIONS_PER_CREDENTIAL_MAX)
      throw new AppError('overloaded', { retryAfterS: RETRY_WHEN_FULL_S });
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#add(id, session),
      onsessionclosed: (id) => this.#drop(id),
    });
    const state = { usedAt: performance.now(), running: 0, batched: new Set(), isRefused: false };
    const session = { transport, credentialHash, allowsBatches, ...state };
    this.#openingCount += 1;
    try {
      await server.connect(transport);
      return await answer(session);
    } finally {
      this.#openingCount -= 1;
      if (transport.sessionId === undefined) await transport.close();
    }
  }

  /**
   * Keeps the session open while a request, or a batch with these ids, is answered. Call the returned function after
   * the answer. When no request is running any more, the function ends a session whose credential was refused.
   */
  hold(session: Session, batch: readonly unknown[]): () => void {
    session.running += 1;
    for (const id of batch) session.batched.add(id);
    return () => {
      session.running -= 1;
      for (const id of batch) session.batched.delete(id);
      session.usedAt = performance.now();
      if (session.isRefused && session.running === 0) void this.end(session);
    };
  }

  async end({ transport }: Pick<Session, 'transport'>): Promise<void> {
    this.#drop(transport.sessionId ?? '');
    await transport.close();
  }

  async close(): Promise<void> {
    await this.#sweep.stop();
    await Promise.all([...this.#byId.values()].map((session) => this.end(session)));
  }

  #add(id: string, session: Session): void {
    this.#byId.set(id, session);
    const ownSessions = this.#sessionsOf(session.credentialHash);
    if (ownSessions.length <= SESSIONS_PER_CREDENTIAL_MAX) return;
    const idle = ownSessions
      .filter((one) => one.running === 0 && one !== session)
      .sort((one, other) => one.usedAt - other.usedAt);
    if (idle[0] !== undefined) void this.end(idle[0]);
  }

  #sessionsOf(hash: string): Session[] {
    return [...this.#byId.values()].filter(({ credentialHash }) => credentialHash === hash);
  }

  #drop(id: string): void {
    this.#byId.delete(id);
  }

  async #endIdle(): Promise<void> {
    const since = performance.now() - this.#limits.idleMs;
    const idle = [...this.#byId.values()].filter(({ running, usedAt }) => running === 0 && usedAt < since);
    await Promise.all(idle.map((session) => this.end(session)));
  }
}

/**
 * Ends a cancelled request, which the SDK leaves open: closes its stream without an answer, or answers with an error if
 * it was in a batch.
 */
export async function endCancelled({ transport, batched }: Session, id: string | number): Promise<void> {
  if (!batched.has(id)) transport.closeSSEStream(id);
  // Makes the transport forget the request, even if its stream is closed. Fails if the request is forgotten already.
  await transport.send({ jsonrpc: '2.0', id, error: CANCELLED_ERROR }).catch(() => {});
}
