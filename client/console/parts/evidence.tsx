import type { AccountClient, ReplyDetail } from '../../src/api.ts';
import { ForecueError } from '../../src/errors.ts';
import { t } from '../strings/index.ts';
import { useSignedIn } from './context.ts';
import { type Quote, Quotes } from './quotes.tsx';
import { Card, ErrorNote, Skeleton } from './ui.tsx';
import { useLoad } from './work.ts';

/** More would be no evidence, but a list. */
const EACH_MAX = 12;

/** The rows of memory that a prediction used, as far as they are still there. */
export function Evidence({ reply }: { reply: ReplyDetail }) {
  const { client } = useSignedIn();
  const { value, error, again } = useLoad(() => piecesOf(client, reply), [reply.id]);
  const withheld = reply.context?.withheld_ids.length ?? 0;
  return (
    <Card title={t.try.evidence}>
      <ErrorNote error={error} again={again} />
      {value === undefined && error === undefined && <Skeleton />}
      {value?.pieces.length === 0 && <p class="quiet">{t.try.noEvidence}</p>}
      {value && <Quotes quotes={value.pieces} />}
      {value?.isPartial && <p class="quiet small">{t.try.evidenceGone}</p>}
      {withheld > 0 && <p class="quiet small">{t.try.withheld(withheld)}</p>}
    </Card>
  );
}

async function piecesOf(client: AccountClient, { context }: ReplyDetail) {
  if (context === null) return { pieces: [], isPartial: false };
  const { example_ids, fact_ids, episode_ids, raw_ids } = context;
  const { facts, episodes, raw } = t.memory.tiers;
  const reads = [
    ...read([...new Set([...example_ids, ...raw_ids])], async (id) => {
      const { content, occurred_at } = await client.readRawMemory(id);
      return { text: content, tier: raw, at: occurred_at };
    }),
    ...read(fact_ids, async (id) => {
      const { text, recorded_at } = await client.readFact(id);
      return { text, tier: facts, at: recorded_at };
    }),
    ...read(episode_ids, async (id) => {
      const { summary, ended_at } = await client.readEpisode(id);
      return { text: summary, tier: episodes, at: ended_at };
    }),
  ];
  const found = await Promise.all(reads);
  const pieces = found.filter((piece) => piece !== undefined);
  return { pieces, isPartial: pieces.length < found.length };
}

/** Reads the first rows; one that was forgotten since is undefined. */
function read(ids: readonly string[], one: (id: string) => Promise<Quote>): Promise<Quote | undefined>[] {
  return ids.slice(0, EACH_MAX).map((id) =>
    one(id).catch((error) => {
      if (error instanceof ForecueError && error.status === 404) return undefined;
      throw error;
    }),
  );
}
