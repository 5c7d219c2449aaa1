import { useRef, useState } from 'preact/hooks';
import type { AccountClient, ReplyDetail } from '../../src/api.ts';
import { ForecueError } from '../../src/errors.ts';
import { t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { useLoad } from './hooks.ts';
import { Loading } from './loading.tsx';
import { type Quote, Quotes } from './quotes.tsx';
import { Button } from './ui.tsx';

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

const TIER_NAMES = { raw: 'raw', episode: 'episodes', fact: 'facts' } as const;

/** What a predicted reply was made from, as the server sent it along. */
export function Evidence({ reply: { context, evidence = [] } }: { reply: ReplyDetail }) {
  const {
    example_ids = [],
    raw_ids = [],
    fact_ids = [],
    episode_ids = [],
    withheld_ids = [],
  } = context ?? {};
  const counts = [new Set([...example_ids, ...raw_ids]).size, fact_ids.length, episode_ids.length];
  const sum = (of: (count: number) => number) => counts.reduce((all, count) => all + of(count), 0);
  return (
    <section class="evidence" aria-label={t.try.evidence}>
      <h2>{t.try.evidence}</h2>
      <Pieces
        pieces={evidence.map(({ tier, text, at }) => ({ text, at, tier: t.memory.tiers[TIER_NAMES[tier]] }))}
        more={sum((count) => Math.max(0, count - ROWS_PER_TIER_MAX))}
        isPartial={evidence.length < sum((count) => Math.min(count, ROWS_PER_TIER_MAX))}
        withheld={withheld_ids.length}
      />
    </section>
  );
}

interface PiecesProps {
  pieces: readonly Quote[];
  more: number;
  isPartial: boolean;
  withheld: number;
}

const SHOWN_FIRST = 6;

function Pieces({ pieces, more, isPartial, withheld }: PiecesProps) {
  const [isWhole, setWhole] = useState(false);
  return (
    <>
      {pieces.length === 0 && <p class="quiet">{t.try.noEvidence}</p>}
      <Quotes quotes={isWhole ? pieces : pieces.slice(0, SHOWN_FIRST)} />
      {!isWhole && pieces.length > SHOWN_FIRST && (
        <Button kind="link" onPress={() => setWhole(true)}>
          {t.more}
        </Button>
      )}
      {more > 0 && <p class="quiet small">{t.try.evidenceMore(more)}</p>}
      {isPartial && <p class="quiet small">{t.try.evidenceGone}</p>}
      {withheld > 0 && <p class="quiet small">{t.try.withheld(withheld)}</p>}
    </>
  );
}

/** Rows that were already requested, by id. */
type KnownRows = Map<string, Promise<Quote | undefined>>;

/** What a draft's completion was made from. Shows the first rows of each tier, and how many more there are. */
export function UsedRows({ used }: { used: UsedIds }) {
  const { client } = useSignedIn();
  const known = useRef<KnownRows>(new Map());
  const quotes = useLoad(() => quotesOf(client, used, known.current), [JSON.stringify(used)]);
  return (
    <>
      <Loading of={quotes} />
      {quotes.value && <Pieces {...quotes.value} withheld={used.withheld_ids?.length ?? 0} />}
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
