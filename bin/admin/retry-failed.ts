import type { PoolName } from '../../shared/config/pools.ts';
import { isLockTimeout } from '../../shared/db/faults.ts';
import { admit } from '../../shared/db/stores/work/admit.ts';
import { countKinds, failedJobs } from '../../shared/db/stores/work/operate.ts';
import { newId } from '../../shared/ids.ts';
import { admissionTerms, jobAdmission, NO_UNITS } from '../../shared/work/admission.ts';
import { kindsOf } from '../../shared/work/kind.ts';
import { kinds } from '../../shared/work/kinds.ts';
import { type RoundStep, SCHEDULES } from '../../shared/work/schedules.ts';
import type { Admin, Outcome } from './command.ts';

/** Accounts of one page. */
const PAGE = 100;
const START = '00000000-0000-0000-0000-000000000000';
/** Jobs that work on whatever is new: their input says nothing that is lost with them. */
const REPEATABLE = Object.values(SCHEDULES).flat();

interface Counts {
  queued: number;
  /** Somebody held a lock on what their admission needs. */
  locked: number;
}

/**
 * Queues a new job for each account whose latest one failed, each in a transaction of its own. Safe to interrupt and to
 * repeat: an account that has been given a job is not found again.
 */
export async function retryFailed(admin: Admin, pools: readonly PoolName[]): Promise<Outcome> {
  const named = pools.flatMap((one) => kindsOf(kinds, one));
  const repeatable = REPEATABLE.filter(({ kind }) => named.includes(kind.name));
  const retried: Record<string, number> = {};
  const locked: Record<string, number> = {};
  for (const step of repeatable) {
    const counts = await retryStep(admin, step);
    retried[step.kind.name] = counts.queued;
    locked[step.kind.name] = counts.locked;
  }
  const others = named.filter((name) => !repeatable.some(({ kind }) => kind.name === name));
  const counts = await countKinds(admin.database.pool, others);
  const left = Object.fromEntries(counts.map(({ kind, failed: count }) => [kind, count]));
  const data = { retried, locked, left };
  return { data, text: textOf(data), failed: Object.values(locked).some((count) => count > 0) };
}

async function retryStep({ database, config }: Admin, step: RoundStep): Promise<Counts> {
  const { kind, body } = step;
  const terms = admissionTerms(kind, {
    process: newId(),
    timeoutMs: config[kind.deadline],
    recoveryWindowS: config.recoveryWindowS,
    units: NO_UNITS,
  });
  const counts = { queued: 0, locked: 0 };
  for (let after: string | undefined = START; after !== undefined; ) {
    const page = await failedJobs(database.pool, kind.name, after, PAGE);
    for (const { id, party } of page.failed) {
      const job = jobAdmission(kind, { accountId: party, body, requestId: `retry ${id}`, wait: false });
      try {
        const [admitted] = await admit(database.pool, [{ ...job, kind: kind.name }], terms);
        counts.queued += Number(admitted?.decision === 'admitted');
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        counts.locked += 1;
      }
    }
    after = page.last;
    if (after !== undefined) process.stderr.write(`So far, ${lineOf(kind.name, counts)}\n`);
  }
  return counts;
}

function lineOf(kind: string, { queued, locked }: Counts): string {
  const skipped = locked === 0 ? '' : `, ${locked} skipped because of a lock: try again later`;
  return `${kind}: ${queued} queued again${skipped}`;
}

function textOf({ retried, locked, left }: Record<'retried' | 'locked' | 'left', Record<string, number>>) {
  const lines = Object.entries(retried).map(([kind, queued]) =>
    lineOf(kind, { queued, locked: locked[kind] ?? 0 }),
  );
  const gone = Object.entries(left).map(
    ([kind, count]) =>
      `${kind}: none of ${count} queued again. Their input is erased and their callers have been answered; the same request runs again`,
  );
  return [...lines, ...gone].join('\n');
}
