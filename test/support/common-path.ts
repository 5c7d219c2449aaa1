import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import { type Admission, admit } from '../../shared/db/stores/work/admit.ts';
import { type Claim, type ClaimTerms, claim, type FlowRequest } from '../../shared/db/stores/work/claim.ts';
import { type Completion, complete } from '../../shared/db/stores/work/complete.ts';
import { outcomesOf } from '../../shared/db/stores/work/find.ts';
import { requestKey } from '../../shared/domain/work.ts';
import { newId } from '../../shared/ids.ts';
import { recallOf } from '../../shared/work/kind.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { pluck } from './pluck.ts';

export const WINDOW_S = 600;
/** A text as long as a usual request. */
export const TEXT = 'x'.repeat(1400);

const RECALL = recallOf(kinds);

export const STEPS = ['admit', 'claim', 'complete', 'outcome'] as const;
/** Milliseconds that each step took. */
export type StepTimes = Record<(typeof STEPS)[number], number>;

export interface AppAndWorker {
  appId: string;
  processId: string;
}

/** Inserts the rows of an app and of a worker. No process runs. */
export async function insertAppAndWorker(pool: Pool): Promise<AppAndWorker> {
  const [appId, processId] = [newId(), newId()];
  await pool.query(
    `insert into processes (id, kind, alive_until) values ($1, 'worker', now() + interval '2 minutes')`,
    [processId],
  );
  await pool.query(
    `insert into apps (id, name, plan, redirect_uris, disabled, switched_off, fingerprint_key, created_at, updated_at)
     values ($1, 'an app', 'sandbox', '{}', '{}', '{}', '\\x00', now(), now())`,
    [appId],
  );
  return { appId, processId };
}

export interface Pass {
  took: StepTimes;
  /** Number of predictions that ended. */
  ended: number;
}

/** Admits a batch, claims as many, completes them and reads the outcomes. Times each step. */
export async function runPass(pool: Pool, { appId, processId }: AppAndWorker, size: number): Promise<Pass> {
  const times: number[] = [];
  const timeStep = async <T>(work: Promise<T>) => {
    const since = performance.now();
    const result = await work;
    times.push(performance.now() - since);
    return result;
  };
  const batch = Array.from({ length: size }, () => admission(appId));
  await timeStep(admitTo(pool, processId, batch));
  const terms = claimTerms(processId, [{ kind: 'predict', party: appId, count: size, sinceMs: null }]);
  const { claims } = await timeStep(claim(pool, terms));
  const byParty = [...Map.groupBy(claims, (one) => one.party).values()];
  const completed = await timeStep(
    Promise.all(byParty.map((own) => complete(pool, own.map(suggestedCompletion), WINDOW_S))),
  );
  await timeStep(outcomesOf(pool, pluck(batch, 'key')));
  if (completed.flat().includes(false)) throw new Error('a pass lost work');
  const took = Object.fromEntries(STEPS.map((step, n) => [step, times[n]])) as StepTimes;
  return { took, ended: claims.length };
}

export function claimTerms(worker: string, asks: readonly FlowRequest[]): ClaimTerms {
  const slots = asks.reduce((sum, { count }) => sum + count, 0);
  return { worker, asks, slots, oneAtATime: [], reachMs: 120_000, recall: RECALL };
}

export async function queueWork(pool: Pool, { appId, processId }: AppAndWorker, size: number): Promise<void> {
  const batch = Array.from({ length: size }, () => admission(appId));
  await admitTo(pool, processId, batch);
}

function admitTo(pool: Pool, process: string, batch: readonly Admission[]) {
  return admit(pool, batch, {
    kind: 'predict',
    process,
    timeoutMs: 60_000,
    recoveryWindowS: WINDOW_S,
    outlivesCallers: false,
    sandboxUnits: 2_000_000_000,
    unitPriceMicrocents: 200_000,
  });
}

function admission(party: string): Admission {
  const requestId = newId();
  return {
    id: newId(),
    party,
    key: requestKey('predict', party, requestId),
    fingerprint: randomBytes(32),
    userId: 'user',
    connectionId: null,
    line: { key: newId(), revision: 1, textHash: randomBytes(32), supersedable: true },
    wait: false,
    cancelOnDisconnect: false,
    facts: { requestId },
    input: TEXT,
  };
}

export function suggestedCompletion({ id, kind, party, month, attempt, worker }: Claim): Completion {
  const answer = TEXT.slice(0, 200);
  return {
    ...{ id, kind, party, month, guard: 'attempt', attempt, worker },
    ...{ state: 'suggested', settle: true, answer, report: {} },
  };
}
