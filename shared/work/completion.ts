import type { EntityManager } from '@mikro-orm/postgresql';
import { createBatcher } from '../db/batcher.ts';
import { type Connections, repeatableTransaction } from '../db/statement.ts';
import { type Completion, complete } from '../db/stores/work/complete.ts';
import { batchSizes } from '../metrics/work.ts';
import type { Kind, Kinds } from './kind.ts';
import type { WakeUps } from './wake-ups.ts';

/** Maximum number of completions in one statement. */
const COMPLETIONS_MAX = 100;
/** Maximum length of all answers in one statement, in UTF-16 units. */
const ANSWER_UNITS_MAX = 256 * 1024;

/**
 * Resolves with false if the work no longer meets the completion's `guard`. After the commit, notifies the processes
 * that wait for the work or run it.
 */
export type Completer = (completion: Completion) => Promise<boolean>;

export interface EndOptions extends Connections {
  kinds: Kinds;
  recoveryWindowS: number;
}

/** Ends work of one party, as `complete` does, with its kinds' own rows. Returns the ids of all work that has ended. */
export async function endWork(
  { pool, em, kinds, recoveryWindowS }: EndOptions,
  batch: readonly Completion[],
): Promise<string[]> {
  if (!batch.some(({ kind }) => kinds[kind]?.rows))
    return endedIds(batch, await complete(pool, batch, recoveryWindowS));
  return repeatableTransaction(em(), (tx) => endWithRows(tx, { kinds, recoveryWindowS }, batch));
}

async function endWithRows(
  tx: EntityManager,
  options: Pick<EndOptions, 'kinds' | 'recoveryWindowS'>,
  batch: readonly Completion[],
): Promise<string[]> {
  const rowsOf = ({ kind }: Completion): Kind['rows'] => options.kinds[kind]?.rows;
  const ending: Completion[] = [];
  for (const [rows, ofRows] of Map.groupBy(batch, rowsOf))
    ending.push(...((await rows?.ending?.(tx, ofRows)) ?? ofRows));
  const inHistory = ending.map((one) =>
    rowsOf(one)?.takesReports && one.state === 'succeeded' ? { ...one, report: {} } : one,
  );
  const ids = endedIds(ending, await complete(tx, inHistory, options.recoveryWindowS));
  const ended = ending.filter(({ id }) => ids.includes(id));
  for (const [rows, ofRows] of Map.groupBy(ended, rowsOf)) {
    const along = (await rows?.ended(tx, ofRows)) ?? [];
    if (along.length > 0) ids.push(...(await endWithRows(tx, options, along)));
  }
  return ids;
}

function endedIds(batch: readonly Completion[], hasEnded: readonly boolean[]): string[] {
  return batch.flatMap(({ id }, place) => (hasEnded[place] ? id : []));
}

export interface CompleterOptions extends EndOptions {
  wakeUps: Pick<WakeUps, 'announceEnded' | 'announceChanged'>;
}

export function createCompleter({ wakeUps, ...options }: CompleterOptions): Completer {
  return createBatcher(
    async (batch: Completion[]) => {
      batchSizes.observe({ statement: 'complete' }, batch.length);
      const ids = await endWork(options, batch);
      const byWorker = new Set(batch.flatMap(({ id, guard }) => (guard === 'attempt' ? id : [])));
      wakeUps.announceEnded(
        ids,
        ids.filter((id) => !byWorker.has(id)),
      );
      for (const { id, kind, party } of batch) {
        const change = ids.includes(id) ? options.kinds[kind]?.changes : undefined;
        if (change !== undefined) wakeUps.announceChanged(party, change);
      }
      return batch.map(({ id }) => ids.includes(id));
    },
    {
      maxItems: COMPLETIONS_MAX,
      maxBytes: ANSWER_UNITS_MAX,
      partyOf: ({ party }) => party,
      bytesOf: ({ answer }) => answer?.length ?? 0,
      keysOf: ({ id }) => [id],
    },
  );
}
