import { useRef } from 'preact/hooks';
import type { AccountClient } from '../../src/api.ts';
import { ForecueError } from '../../src/errors.ts';
import { t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useLoad } from './hooks.ts';
import { type Quote, Quotes } from './quotes.tsx';
import { Card, ErrorNote, Skeleton } from './ui.tsx';

const ROWS_PER_TIER_MAX = 12;

/** `withheld_ids` are the ids of rows that were kept out of the prediction. */
interface UsedIds {
  fact_ids: readonly string[];
  episode_ids: readonly string[];
  raw_ids: readonly string[];
  example_ids?: readonly string[];
  withheld_ids?: readonly string[];
}

export const NOTHING_USED: UsedIds = { fact_ids: [], episode_ids: [], raw_ids: [] };

export function Evidence({ used }: { used: UsedIds | null }) {
  return (
    <Card title={t.try.evidence}>
      <UsedRows used={used ?? NOTHING_USED} />
    </Card>
  );
}

/** Rows that were already requested, by id. */
type KnownRows = Map<string, Promise<Quote | undefined>>;

/** Shows the first rows of each tier, and how many more there are. Leaves out rows that no longer exist. */
export function UsedRows({ used }: { used: UsedIds }) {
  const { client } = useSignedIn();
  const known = useRef<KnownRows>(new Map());
  const { value, error, again } = useLoad(
    () => quotesOf(client, used, known.current),
    [JSON.stringify(used)],
  );
  const withheld = used.withheld_ids?.length ?? 0;
  return (
    <>
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton />}
      {value?.pieces.length === 0 && <p class="quiet">{t.try.noEvidence}</p>}
      {value && <Quotes quotes={value.pieces} />}
      {value && value.more > 0 && <p class="quiet small">{t.try.evidenceMore(value.more)}</p>}
      {value?.isPartial && <p class="quiet small">{t.try.evidenceGone}</p>}
      {withheld > 0 && <p class="quiet small">{t.try.withheld(withheld)}</p>}
    </>
  );
}

async function quotesOf(
  client: AccountClient,
  { example_ids = [], fact_ids, episode_ids, raw_ids }: UsedIds,
  known: KnownRows,
) {
  const { facts, episodes, raw } = t.memory.tiers;
  const rowIds = [...new Set([...example_ids, ...raw_ids])];
  const reads = [
    ...readRows(known, rowIds, async (id) => {
      const { content, occurred_at } = await client.readRawMemory(id);
      return { text: content, tier: raw, at: occurred_at };
    }),
    ...readRows(known, fact_ids, async (id) => {
      const { text, recorded_at } = await client.readFact(id);
      return { text, tier: facts, at: recorded_at };
    }),
    ...readRows(known, episode_ids, async (id) => {
      const { summary, ended_at } = await client.readEpisode(id);
      return { text: summary, tier: episodes, at: ended_at };
    }),
  ];
  const found = await Promise.all(reads);
  const pieces = found.filter((piece) => piece !== undefined);
  const more = rowIds.length + fact_ids.length + episode_ids.length - reads.length;
  return { pieces, more, isPartial: pieces.length < found.length };
}

/** A promise resolves with undefined if its row no longer exists. */
function readRows(
  known: KnownRows,
  ids: readonly string[],
  read: (id: string) => Promise<Quote>,
): Promise<Quote | undefined>[] {
  return ids.slice(0, ROWS_PER_TIER_MAX).map((id) => {
    const quote =
      known.get(id) ??
      read(id).catch((error) => {
        if (error instanceof ForecueError && error.status === 404) return undefined;
        known.delete(id);
        throw error;
      });
    known.set(id, quote);
    return quote;
  });
}
