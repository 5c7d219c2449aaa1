import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../shared/errors/app-error.ts';
import { CHANGES, type Change, type ChangesResponse } from '../../shared/schemas/changes.ts';
import { ConcurrencyLimiter } from '../../shared/timing/concurrency-limiter.ts';
import { anySignal, rejectOnAbort } from '../../shared/timing/within.ts';
import { CREDENTIAL_TTL_MS } from '../auth/credentials.ts';
import { eventOf, KEEP_ALIVE_COMMENT, keepAliveMsOf } from '../jobs/stream.ts';

const STREAMS_PER_ACCOUNT = 20;
/** Maximum share of this process's connections that streams of changes take. */
const CONNECTION_SHARE = 0.4;
/** Pause after an event, in which further changes wait for the next one. */
const PAUSE_MS = 1000;
/** A stream ends after this time. Its client opens another with its current token, and misses no lost message for longer. */
const AGE_MAX_MS = 5 * 60_000;

export interface Follower {
  accountId: string;
  /** Rejects once the credential does not hold any more. */
  authenticate(): Promise<unknown>;
  /** Aborted when the follower's connection closes. */
  gone: AbortSignal;
}

/** Streams what changes of accounts, as server-sent events that name parts of the data and nothing of it. */
export class ChangeFeeds {
  readonly #permits: ConcurrencyLimiter;
  readonly #keepAliveMs: number;
  readonly #listeners = new Map<string, Set<(change: Change) => void>>();
  readonly #ends = new Set<AbortController>();
  #isClosed = false;

  constructor({ connections, sendTimeoutMs }: { connections: { atOnce: number }; sendTimeoutMs: number }) {
    this.#permits = new ConcurrencyLimiter({
      capacity: Math.ceil(connections.atOnce * CONNECTION_SHARE),
      maxPerParty: STREAMS_PER_ACCOUNT,
      maxQueued: 0,
    });
    this.#keepAliveMs = keepAliveMsOf(sendTimeoutMs);
  }

  /** Takes messages of the channel `changed`. */
  hear(messages: readonly string[]): void {
    for (const message of messages) {
      const [accountId = '', change] = message.split(' ');
      for (const listen of this.#listeners.get(accountId) ?? []) listen(change as Change);
    }
  }

  /** Throws `overloaded` when there are too many streams of the account or in all. */
  async open(follower: Follower): Promise<Readable> {
    if (this.#isClosed) throw new AppError('service_unavailable');
    const { release } = await this.#permits.acquire({ party: follower.accountId });
    // Releases the permit even if the stream is never read: such a stream does not close by itself.
    follower.gone.addEventListener('abort', release);
    return Readable.from(this.#events(follower), { objectMode: false }).once('close', release);
  }

  /** Ends all streams, so that a process that stops waits for none. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end.abort();
  }

  async *#events({ accountId, authenticate, gone }: Follower): AsyncGenerator<string> {
    const end = new AbortController();
    const age = setTimeout(() => end.abort(), AGE_MAX_MS);
    const over = anySignal(gone, end.signal);
    const changed = new Set<Change>();
    let wake = Promise.withResolvers<void>();
    const listen = (change: Change) => {
      changed.add(change);
      wake.resolve();
    };
    const listeners = this.#listeners.get(accountId) ?? new Set();
    this.#listeners.set(accountId, listeners.add(listen));
    this.#ends.add(end);
    if (this.#isClosed) end.abort();
    try {
      yield changedEvent(CHANGES);
      while (!over.aborted) {
        await this.#waitFor(wake.promise, over);
        if (changed.size === 0) {
          yield KEEP_ALIVE_COMMENT;
          continue;
        }
        // A log-in that has just ended is no longer remembered then: its client would read the account in vain.
        if (changed.has('account')) await sleep(CREDENTIAL_TTL_MS, undefined, { signal: over });
        const names = [...changed];
        changed.clear();
        wake = Promise.withResolvers();
        await authenticate();
        yield changedEvent(names);
        // Ends the stream: a client that was logged out cannot open another.
        if (names.includes('account')) return;
        await sleep(PAUSE_MS, undefined, { signal: over });
      }
    } catch {
      // The credential has ended, or cannot be checked, or the stream is over: its client opens another or does not.
    } finally {
      clearTimeout(age);
      this.#ends.delete(end);
      listeners.delete(listen);
      if (listeners.size === 0) this.#listeners.delete(accountId);
    }
  }

  /** Waits for a change, but no longer than the connection may be silent. */
  async #waitFor(change: Promise<void>, over: AbortSignal): Promise<void> {
    const silent = new AbortController();
    const comment = sleep(this.#keepAliveMs, undefined, { signal: silent.signal }).catch(() => {});
    await rejectOnAbort(over, Promise.race([change, comment])).finally(() => silent.abort());
  }
}

function changedEvent(changed: readonly Change[]): string {
  return eventOf('changed', { changed: [...changed] } satisfies ChangesResponse);
}
