import type { LoadRow } from '../../shared/db/stores/work/load.ts';
import { LoadEstimate } from '../../shared/domain/load.ts';
import type { Log } from '../../shared/log.ts';
import { Coalescer } from '../../shared/timing/coalesce.ts';
import { every, type Repetition } from '../../shared/timing/every.ts';
import type { Kind, Kinds } from '../../shared/work/kind.ts';
import { poolLoad } from '../../shared/work/pool-load.ts';

const POLL_EVERY_MS = 200;
/** An idle ingress makes one poll in eight: enough to know whether there is a worker. */
const IDLE_POLL_FACTOR = 8;
/** Share of a deadline that the estimated answer time may take. The rest is a margin for errors of the estimate. */
const DEADLINE_SHARE = 0.7;

export interface LoadSteps {
  read(kinds: readonly Kind[]): Promise<LoadRow[]>;
  /** Returns true while callers wait at this ingress. */
  isBusy(): boolean;
  deadlineMs(kind: Kind): number;
  /** Returns false during and shortly after a database outage, when workers whose heartbeats failed seem dead. */
  canJudge(): boolean;
  log: Log;
}

interface WatchedKind {
  kind: Kind;
  estimate: LoadEstimate;
  /** Time in the queue of the work that ended last. */
  queuedMs: number;
}

/**
 * Reads the load of all kinds of work, and estimates whether new work would be answered too late and has to be shed.
 * Polls five times a second while callers wait at this ingress or may be refused, else every 1.6 s.
 */
export class LoadMonitor {
  readonly #kinds: Kinds;
  readonly #steps: LoadSteps;
  readonly #watchedKinds: ReadonlyMap<string, WatchedKind>;
  readonly #polls: Repetition;
  readonly #coalescedReads = new Coalescer(() => this.#observe());

  constructor(kinds: Kinds, steps: LoadSteps) {
    this.#kinds = kinds;
    this.#steps = steps;
    this.#watchedKinds = new Map(
      Object.values(kinds).map((kind) => [kind.name, { kind, estimate: new LoadEstimate(), queuedMs: 0 }]),
    );
    let skipped = 0;
    this.#polls = every(POLL_EVERY_MS, async () => {
      skipped += 1;
      if (skipped < IDLE_POLL_FACTOR && !steps.isBusy() && !this.#isStrained) return;
      skipped = 0;
      await this.poll();
    });
  }

  poll(): Promise<void> {
    return this.#coalescedReads.run();
  }

  /** Notes that a handler has ended work of the kind after `ms`, including `queuedMs` in the queue. */
  noteServed(kind: string, ms: number, queuedMs: number): void {
    const watched = this.#watchedKind(kind);
    watched.queuedMs = queuedMs;
    watched.estimate.noteServed(ms - queuedMs);
  }

  queuedMs(kind: string): number {
    return this.#watchedKind(kind).queuedMs;
  }

  /** Returns how many queued pieces of work an app or account may have, so that the last is answered in time. */
  maxQueued(kind: string): number {
    const { estimate, kind: declaration } = this.#watchedKind(kind);
    return estimate.maxQueued(DEADLINE_SHARE * this.#steps.deadlineMs(declaration), performance.now());
  }

  /**
   * Returns the seconds until new work could be answered in time, for an app or account with `queued` pieces in the
   * queue. Returns at least 1, and at most the kind's deadline, even without a worker.
   */
  retryAfterS(kind: string, queued: number): number {
    const { estimate, kind: declaration } = this.#watchedKind(kind);
    const deadlineMs = this.#steps.deadlineMs(declaration);
    const excessMs = estimate.answerMs(queued, performance.now()) - DEADLINE_SHARE * deadlineMs;
    return Math.max(1, Math.ceil(Math.min(excessMs, deadlineMs) / 1000));
  }

  /** Does not wait for a running poll, since the database may not answer it. */
  close(): void {
    void this.#polls.stop();
  }

  get #isStrained(): boolean {
    return [...this.#watchedKinds.values()].some(({ estimate }) => estimate.isStrained);
  }

  #watchedKind(kind: string): WatchedKind {
    const watched = this.#watchedKinds.get(kind);
    if (watched === undefined) throw new Error(`no such kind of work: ${kind}`);
    return watched;
  }

  async #observe(): Promise<void> {
    try {
      const rows = await this.#steps.read(Object.values(this.#kinds));
      const at = performance.now();
      for (const { kind: name, claimed } of rows) {
        const { kind, estimate } = this.#watchedKind(name);
        const pool = rows.filter((row) => this.#watchedKind(row.kind).kind.pool === kind.pool);
        const total = poolLoad(pool);
        if (total.workers === 0 && !this.#steps.canJudge()) continue;
        const ownRows = pool.filter((row) => this.#watchedKind(row.kind).kind.parties === kind.parties);
        const otherRows = pool.filter((row) => !ownRows.includes(row));
        const claims = pool.flatMap(({ lastClaimMs }) => lastClaimMs ?? []);
        estimate.observe({
          ...total,
          at,
          claimed,
          standing: ownRows.reduce((sum, { standing }) => sum + standing, 0),
          queues: ownRows.flatMap(({ queues }) => queues),
          others: poolLoad(otherRows).queued,
          lastClaimMs: claims.length === 0 ? null : Math.min(...claims),
        });
      }
    } catch (error) {
      this.#steps.log.warn({ err: error }, 'could not read the load of the queues');
    }
  }
}
