import type { LoadRow } from '../../shared/db/stores/work/load.ts';
import { LoadEstimate } from '../../shared/domain/load.ts';
import type { Log } from '../../shared/log.ts';
import { Coalesced } from '../../shared/timing/coalesce.ts';
import { every, type Repeated } from '../../shared/timing/every.ts';
import type { Kind, Kinds } from '../../shared/work/kind.ts';
import { poolLoad } from '../../shared/work/pool-load.ts';

const LOOK_EVERY_MS = 200;
/** An idle ingress looks only every so many times: enough to know whether there is a worker. */
const IDLE_LOOKS = 8;
/** The share of a deadline that the estimate may fill; the rest is its margin of error, since accepted work must be answered. */
const SPENDABLE = 0.7;

export interface LoadSteps {
  read(kinds: readonly Kind[]): Promise<LoadRow[]>;
  /** Returns true while callers wait at this ingress. */
  isBusy(): boolean;
  deadlineMs(kind: Kind): number;
  /** False for a while after an outage of the database: workers that could not beat seem dead. */
  canJudge(): boolean;
  log: Log;
}

/** The estimate of a kind, and for how long its work that ended last was queued. */
interface Watched {
  kind: Kind;
  estimate: LoadEstimate;
  queuedMs: number;
}

/**
 * Reads the load of all kinds of work and decides when to shed it: when new work would wait so long that its answer came
 * too late. Looks five times a second while callers wait here or might be refused, else every 1.6 s.
 */
export class LoadMonitor {
  readonly #kinds: Kinds;
  readonly #steps: LoadSteps;
  readonly #watched: ReadonlyMap<string, Watched>;
  readonly #looks: Repeated;
  readonly #coalesced = new Coalesced(() => this.#observe());

  constructor(kinds: Kinds, steps: LoadSteps) {
    this.#kinds = kinds;
    this.#steps = steps;
    this.#watched = new Map(
      Object.values(kinds).map((kind) => [kind.name, { kind, estimate: new LoadEstimate(), queuedMs: 0 }]),
    );
    let skipped = 0;
    this.#looks = every(LOOK_EVERY_MS, async () => {
      skipped += 1;
      if (skipped < IDLE_LOOKS && !steps.isBusy() && !this.#isStrained) return;
      skipped = 0;
      await this.look();
    });
  }

  /** Looks at the queues now. An ingress does so before it serves, so that its first caller does not wait in vain. */
  look(): Promise<void> {
    return this.#coalesced.run();
  }

  /** Work of the kind that a handler has ended took `ms`, of which it was queued for `queuedMs`. */
  served(kind: string, ms: number, queuedMs: number): void {
    const watched = this.#of(kind);
    watched.queuedMs = queuedMs;
    watched.estimate.served(ms - queuedMs);
  }

  /** Milliseconds for which the kind's work that ended last was queued. */
  queuedMs(kind: string): number {
    return this.#of(kind).queuedMs;
  }

  /** The most of a party's work of a kind that may be queued for one more piece to be answered in time. */
  mostQueued(kind: string): number {
    const { estimate, kind: declared } = this.#of(kind);
    return estimate.mostQueued(SPENDABLE * this.#steps.deadlineMs(declared), performance.now());
  }

  /** Seconds after which new work of a party with so much queued could be answered in time; at least 1. */
  retryAfterS(kind: string, queued: number): number {
    const { estimate, kind: declared } = this.#of(kind);
    const deadlineMs = this.#steps.deadlineMs(declared);
    const excessMs = estimate.answerMs(queued, performance.now()) - SPENDABLE * deadlineMs;
    return Math.max(1, Math.ceil(Math.min(excessMs, deadlineMs) / 1000));
  }

  /** Does not wait for a look under way: the database may not answer it. */
  close(): void {
    void this.#looks.stop();
  }

  get #isStrained(): boolean {
    return [...this.#watched.values()].some(({ estimate }) => estimate.isStrained);
  }

  #of(kind: string): Watched {
    const watched = this.#watched.get(kind);
    if (watched === undefined) throw new Error(`no such kind of work: ${kind}`);
    return watched;
  }

  async #observe(): Promise<void> {
    try {
      const rows = await this.#steps.read(Object.values(this.#kinds));
      const at = performance.now();
      for (const { kind: name, claimed } of rows) {
        const { kind, estimate } = this.#of(name);
        const pool = rows.filter((row) => this.#of(row.kind).kind.pool === kind.pool);
        const total = poolLoad(pool);
        if (total.workers === 0 && !this.#steps.canJudge()) continue;
        const own = pool.filter((row) => this.#of(row.kind).kind.parties === kind.parties);
        const others = pool.filter((row) => !own.includes(row));
        const claims = pool.flatMap(({ lastClaimMs }) => lastClaimMs ?? []);
        estimate.observe({
          ...total,
          at,
          claimed,
          standing: own.reduce((sum, { standing }) => sum + standing, 0),
          queues: own.flatMap(({ queues }) => queues),
          others: poolLoad(others).queued,
          lastClaimMs: claims.length === 0 ? null : Math.min(...claims),
        });
      }
    } catch (error) {
      this.#steps.log.warn({ err: error }, 'could not read the load of the queues');
    }
  }
}
