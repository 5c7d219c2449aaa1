import type { AccountClient, ForgetReceipt } from '../../src/api.ts';
import { moment, t } from '../strings/index.ts';

export type Tier = 'facts' | 'episodes' | 'raw';
export const TIERS: readonly Tier[] = ['facts', 'episodes', 'raw'];

/** A row of any tier, as it is displayed. */
export interface ShownRow {
  id: string;
  title: string;
  /** All of its words. */
  text: string;
  at: string;
  /** Labels of the row, such as its kind, source or state. */
  marks: string[];
  project: string | null;
  isPinned?: boolean;
  /** Session of a message; `isOwn` if the person said it. */
  session?: string | null;
  isOwn?: boolean;
  /** Words of a row that only heads the messages of a session. */
  head?: string;
}

interface TierQuery {
  limit: number;
  cursor?: string;
  q?: string;
  project?: string;
}

export interface TierPage {
  rows: ShownRow[];
  next: string | null;
}

type FactRow = Awaited<ReturnType<AccountClient['listFacts']>>['results'][number];
type EpisodeRow = Awaited<ReturnType<AccountClient['listEpisodes']>>['results'][number];
type RawRow = Awaited<ReturnType<AccountClient['listRawMemory']>>['results'][number];

export function factRow({ id, text, recorded_at, kind, pinned, superseded_by, project }: FactRow): ShownRow {
  const marks = [kind && kindName(kind), superseded_by && t.memory.superseded].filter(
    (mark) => !!mark,
  ) as string[];
  return { id, title: text, text, at: recorded_at, isPinned: pinned, marks, project };
}

function episodeRow({ id, title, summary, ended_at, project }: EpisodeRow): ShownRow {
  return { id, title, text: summary, at: ended_at, marks: [], project };
}

function rawRow({
  id,
  content,
  occurred_at,
  role,
  agent,
  source,
  origin,
  project,
  session_id,
}: RawRow): ShownRow {
  const isOwn = role === 'human';
  const marks = [isOwn ? '' : (agent ?? source), origin === 'reported' ? t.memory.reported : ''];
  return {
    id,
    title: content,
    text: content,
    at: occurred_at,
    marks: marks.filter((mark) => mark !== ''),
    project,
    session: session_id,
    isOwn,
  };
}

const kindName = (kind: string) => (t.kinds as Record<string, string>)[kind] ?? kind;

/** Pinned facts that are shown before all others. */
const PINNED_MAX = 200;
const byOwner = (a: ShownRow, b: ShownRow) => Number(b.isOwn) - Number(a.isOwn);

export async function listTier(client: AccountClient, tier: Tier, query: TierQuery): Promise<TierPage> {
  if (tier === 'facts') {
    if (query.q !== undefined) {
      const { results, next } = await client.listFacts(query);
      return { rows: results.map(factRow), next };
    }
    const [pinned, others] = await Promise.all([
      query.cursor === undefined
        ? client.listFacts({ ...query, pinned: 'true', limit: PINNED_MAX })
        : undefined,
      client.listFacts({ ...query, pinned: 'false' }),
    ]);
    return { rows: [...(pinned?.results ?? []), ...others.results].map(factRow), next: others.next };
  }
  if (tier === 'episodes') {
    const { results, next } = await client.listEpisodes(query);
    return { rows: results.map(episodeRow), next };
  }
  const { results, next } = await client.listRawMemory(query);
  const rows = results.map(rawRow);
  // People look for their own words more often than for an agent's question.
  return { rows: query.q === undefined ? conversationsOf(rows) : rows.toSorted(byOwner), next };
}

/**
 * The sessions of a page, the latest first, each with a head, and in it the messages in the order in which they were
 * said. Messages without a session stay where they are.
 */
function conversationsOf(rows: readonly ShownRow[]): ShownRow[] {
  const sessions = Map.groupBy(rows, ({ session, id }) => session ?? id);
  return [...sessions.values()].flatMap((messages) => {
    const [latest] = messages;
    const first = messages.at(-1);
    if (!latest?.session || first === undefined) return messages;
    const head = [moment(first.at), latest.project].filter((name) => name !== null).join(' · ');
    return [{ ...latest, id: `head ${latest.id}`, head }, ...messages.toReversed()];
  });
}

/** Maximum rows of a request that forgets. */
const FORGOTTEN_AT_ONCE = 100;

/** Returns one receipt for all: a sentence that names what else was deleted, and what holds again. */
export async function forgetRows(
  client: AccountClient,
  tier: Tier,
  ids: readonly string[],
  onForgotten: (ids: readonly string[]) => void,
): Promise<string> {
  const receipts: ForgetReceipt[] = [];
  for (let at = 0; at < ids.length; at += FORGOTTEN_AT_ONCE) {
    const some = ids.slice(at, at + FORGOTTEN_AT_ONCE);
    const purge = tier === 'raw' && { purge_event: true };
    receipts.push(await client.forgetMemory({ tier, ids: some, ...purge }));
    onForgotten(some);
  }
  const { receipt, forgotten } = t.memory;
  const sum = (of: (one: ForgetReceipt) => number) => receipts.reduce((all, one) => all + of(one), 0);
  const episodes = sum((one) => one.episodes.deleted);
  const facts = sum((one) => one.facts.deleted);
  const restored = sum((one) => one.facts.restored);
  const others = [
    episodes > 0 && receipt.episodes(episodes),
    facts > 0 && receipt.facts(facts),
    restored > 0 && receipt.restored(restored),
  ].filter((one) => one !== false);
  const along = others.length === 0 ? '' : receipt.with + others.join(', ');
  return forgotten(
    sum((one) => one.forgotten),
    along,
  );
}
