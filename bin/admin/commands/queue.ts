import { POOLS, type PoolName } from '../../../shared/config/config.ts';
import { resumePools } from '../../../shared/db/stores/work/operate.ts';
import { createLog } from '../../../shared/log.ts';
import { closePart } from '../../../shared/process/lifecycle.ts';
import { openQueues } from '../../../shared/queue/queues.ts';
import { print } from '../../../shared/text/visible.ts';
import { drain, pause, type RetryCounts, type RetryStop, retryFailed } from '../../../shared/work/operate.ts';
import { choice, requireValue } from '../arguments.ts';
import { type Admin, command, type Outcome } from '../command.ts';

const parsePool = (value: string) => choice('POOL', value, POOLS);

const poolsOf = (operand: string | undefined) => (operand === undefined ? POOLS : [parsePool(operand)]);

export const queuePause = command({
  summary: 'Have the workers of one pool, or of all, claim nothing new',
  synopsis: '[POOL]',
  example: 'memory',
  operand: poolsOf,
  read(_, pools) {
    return async ({ database }) => {
      const late = await pause(database.pool, pools);
      const text = `Paused: ${pools.join(', ')}. What runs goes on; what waits stays until its deadline.`;
      const warning = late === 0 ? '' : ` ${late} workers have not noticed yet.`;
      return { data: { paused: pools, unaware_workers: late }, text: text + warning };
    };
  },
});

export const queueResume = command({
  summary: 'Have paused workers claim again',
  synopsis: '[POOL]',
  example: 'memory',
  operand: poolsOf,
  read(_, pools) {
    return async ({ database }) => {
      await resumePools(database.pool, pools);
      return { data: { resumed: pools }, text: `Resumed: ${pools.join(', ')}.` };
    };
  },
});

export const queueDrain = command({
  summary: 'End the queued work of a pool as service_unavailable',
  synopsis: 'POOL',
  example: 'batch',
  operand: (value) => parsePool(requireValue('POOL', value)),
  read(_, poolToDrain) {
    return async ({ database, config: { recoveryWindowS } }) => {
      const { ended, locked } = await drain(database, poolToDrain, recoveryWindowS);
      const text = `${ended} ended as service_unavailable${skippedNote(locked)}. What runs goes on; new work is taken unless the pool is paused.`;
      return { data: { pool: poolToDrain, ended, locked }, text, failed: locked > 0 };
    };
  },
});

export const queueRetryFailed = command({
  summary: 'Queue a new job for each account whose latest one failed',
  synopsis: '[POOL]',
  example: 'memory',
  operand: poolsOf,
  read: (_, pools) => (admin) => retryFailedOf(admin, pools),
});

async function retryFailedOf({ database, config }: Admin, pools: readonly PoolName[]): Promise<Outcome> {
  await using opened = new AsyncDisposableStack();
  const queues = opened.adopt(await openQueues(config, createLog('admin', 'silent')), closePart);
  const { retried, left } = await retryFailed(database, pools, {
    queues,
    timeouts: config,
    recoveryWindowS: config.recoveryWindowS,
    roomTimeoutMs: Number.POSITIVE_INFINITY,
    onPage: (kind, counts) => print(`So far, ${lineOf(kind, counts)}\n`, process.stderr),
  });
  const counts = Object.entries(retried);
  const countsOf = (what: 'queued' | 'locked') =>
    Object.fromEntries(counts.map(([kind, one]) => [kind, one[what]]));
  const stopped = counts.flatMap(([kind, one]) => (one.stopped === undefined ? [] : [[kind, one.stopped]]));
  const notRetried = Object.entries(left).map(
    ([kind, count]) =>
      `${kind}: none of ${count} queued again. Their input is erased and their callers have been answered; the same request runs again`,
  );
  return {
    data: {
      retried: countsOf('queued'),
      locked: countsOf('locked'),
      stopped: Object.fromEntries(stopped),
      left,
    },
    text: [...counts.map(([kind, one]) => lineOf(kind, one)), ...notRetried].join('\n'),
    failed: stopped.length > 0 || counts.some(([, { locked }]) => locked > 0),
  };
}

const STOP_NOTES: Readonly<Record<RetryStop, string>> = {
  no_worker: '. Stopped, because no worker serves the pool: start one, and try again',
  paused: '. Stopped, because the pool is paused and full: resume it, and try again',
  full: '. Stopped, because the pool is full: try again later',
};

function lineOf(kind: string, { queued, locked, stopped }: RetryCounts): string {
  return `${kind}: ${queued} queued again${skippedNote(locked)}${stopped === undefined ? '' : STOP_NOTES[stopped]}`;
}

function skippedNote(locked: number): string {
  return locked === 0 ? '' : `, ${locked} skipped because of a lock: try again later`;
}
