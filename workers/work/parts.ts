import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { retryUntil } from '../../shared/db/retries.ts';
import { admit } from '../../shared/db/stores/work/admit.ts';
import { type Claim, findLiveIds } from '../../shared/db/stores/work/claim.ts';
import type { CompletionGuard } from '../../shared/db/stores/work/complete.ts';
import type { End, TraceFacts } from '../../shared/domain/work.ts';
import type { Log } from '../../shared/log.ts';
import { traceHeaders } from '../../shared/tracing/span.ts';
import { admissionTerms, jobAdmission, type Part } from '../../shared/work/admission.ts';
import type { Completer } from '../../shared/work/completion.ts';
import type { Kind } from '../../shared/work/kind.ts';
import type { WakeUps } from '../../shared/work/wake-ups.ts';
import type { HandlerContext, PartsOfWork } from './handler.ts';

/** The deadline of parts is this much before their parent's, so that the parent can report how they ended. */
const MARGIN_MS = 500;
/** Interval at which a waiting parent checks its parts, since wake-ups may be lost. */
const POLL_EVERY_MS = 1000;
/** Delay before the next check whether the database's clock has reached the deadline. */
const CLOCK_GRACE_MS = 50;

export interface PartsRoomDependencies {
  pool: Pool;
  /** Id of this process's heartbeat. */
  process: string;
  recoveryWindowS: number;
  wakeUps: Pick<WakeUps, 'announceAdmitted'>;
  complete: Completer;
  log: Log;
}

interface Parent extends Pick<HandlerContext, 'signal' | 'leftMs'> {
  claim: Pick<Claim, 'id' | 'party' | 'facts'>;
  kind: Kind;
  park(): void;
}

interface PartsWait {
  left: Set<string>;
  wakeUp: PromiseWithResolvers<void>;
}

/** Lets work wait for its parts, which any process may perform. If the work has ended meanwhile, cancels its parts. */
export class PartsRoom {
  readonly #dependencies: PartsRoomDependencies;
  readonly #waiting = new Map<string, PartsWait>();

  constructor(dependencies: PartsRoomDependencies) {
    this.#dependencies = dependencies;
  }

  wake(ids: readonly string[]): void {
    for (const id of ids) {
      const waiting = this.#waiting.get(id);
      if (waiting?.left.delete(id) && waiting.left.size === 0) waiting.wakeUp.resolve();
    }
  }

  partsOf(parent: Parent): PartsOfWork {
    return {
      admit: (parts) => this.#admit(parent, parts),
      waitForEnd: (ids) => this.#waitForEnd(parent, ids),
    };
  }

  async #admit(parent: Parent, parts: readonly Part[]): Promise<void> {
    const { pool, process, recoveryWindowS, wakeUps } = this.#dependencies;
    const { claim, kind, signal, leftMs } = parent;
    const partKind = kindOfParts(kind);
    const { trace } = claim.facts as TraceFacts;
    const traceFacts = trace && { trace: { ...trace, ...traceHeaders() } };
    const admissions = parts.map((part) =>
      jobAdmission(partKind, { ...part, accountId: claim.party, facts: { ...part.facts, ...traceFacts } }),
    );
    await retryUntil(() => {
      const timeoutMs = Math.max(1, Math.floor(leftMs() - MARGIN_MS));
      const terms = admissionTerms(partKind, { process, recoveryWindowS, timeoutMs });
      return admit(pool, admissions, terms);
    }, performance.now() + leftMs());
    if (signal.aborted) {
      const ids = parts.map(({ id }) => id);
      void this.#cancelOrphans(parent, ids);
    }
    signal.throwIfAborted();
    wakeUps.announceAdmitted([{ kind: partKind.name, party: claim.party }]);
  }

  async #waitForEnd(parent: Parent, ids: readonly string[]): Promise<void> {
    parent.park();
    const waiting = { left: new Set(ids), wakeUp: Promise.withResolvers<void>() };
    for (const id of ids) this.#waiting.set(id, waiting);
    try {
      await this.#wait(parent, ids, waiting);
    } finally {
      // Keeps the entries of a later attempt in this process.
      for (const id of ids) if (this.#waiting.get(id) === waiting) this.#waiting.delete(id);
      if (parent.signal.aborted) void this.#cancelOrphans(parent, ids);
    }
  }

  async #wait({ claim, kind, signal, leftMs }: Parent, ids: readonly string[], waiting: PartsWait) {
    const stop = () => waiting.wakeUp.resolve();
    signal.addEventListener('abort', stop);
    for (;;) {
      signal.throwIfAborted();
      const liveIds = await retryUntil(
        () => findLiveIds(this.#dependencies.pool, ids),
        performance.now() + leftMs(),
      );
      if (liveIds.length === 0) return;
      const restMs = leftMs() - MARGIN_MS;
      if (restMs <= 0) {
        const end = { state: 'failed', code: kindOfParts(kind).codes.timeout };
        await this.#end(claim.party, liveIds, 'overdue', end);
        await sleep(CLOCK_GRACE_MS);
        continue;
      }
      await this.#waitForWakeUp(waiting, Math.min(POLL_EVERY_MS, restMs));
    }
  }

  async #waitForWakeUp(waiting: PartsWait, ms: number): Promise<void> {
    const timer = setTimeout(waiting.wakeUp.resolve, ms);
    await waiting.wakeUp.promise;
    clearTimeout(timer);
    waiting.wakeUp = Promise.withResolvers<void>();
  }

  async #cancelOrphans({ claim, kind }: Parent, ids: readonly string[]): Promise<void> {
    const { pool, log } = this.#dependencies;
    try {
      if ((await findLiveIds(pool, [claim.id])).length > 0) return;
      const end = { state: 'cancelled', code: kindOfParts(kind).codes.cancelled };
      await this.#end(claim.party, await findLiveIds(pool, ids), 'live', end);
    } catch (error) {
      log.warn({ err: error, work: claim.id }, 'could not cancel the parts of work that has ended');
    }
  }

  async #end(
    party: string,
    ids: readonly string[],
    guard: Extract<CompletionGuard['guard'], 'overdue' | 'live'>,
    end: End,
  ): Promise<void> {
    await Promise.all(
      ids.map((id) => this.#dependencies.complete({ id, party, month: null, guard, ...end })),
    );
  }
}

function kindOfParts({ name, parts }: Kind): Kind {
  if (parts === undefined) throw new Error(`work of this kind has no parts: ${name}`);
  return parts;
}
