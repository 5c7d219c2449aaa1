import { idsOf } from '../ids.ts';
import type { ContextMeta } from '../schemas/memory-context.ts';
import { maskForName, maskSecrets } from '../text/secrets.ts';
import { estimateTokens } from '../text/tokens.ts';
import { mapInSlices } from '../timing/slices.ts';
import { type Answer, relevancesAsAnswers } from './answers.ts';
import { chooseBest, type Merits, RANKING_VERSION, worthOf } from './context-ranking.ts';
import type {
  ContextCandidates,
  ContextQuery,
  EpisodeRow,
  FactRow,
  ProfileRow,
  RawRow,
  TierCandidates,
} from './context-rows.ts';
import { isEvidence } from './facts/statement.ts';

/**
 * The part of a person's memory chosen for one question, with secrets masked. Facts are sorted pinned first, then those
 * that began last; episodes and raw rows newest first.
 */
export interface ContextBundle {
  profile: ProfileRow | null;
  facts: FactRow[];
  episodes: EpisodeRow[];
  raw: RawRow[];
  /** Ids of the rows, the most valuable first. A caller with less room drops rows from the end. */
  byWorth: { facts: string[]; episodes: string[]; raw: string[] };
  /** Facts chosen regardless of the question: pinned first, then the newest. */
  lasting: FactRow[];
  meta: ContextMeta;
}

const HOUR_MS = 3_600_000;
const HALF_LIFE_MS = { facts: 30 * 24 * HOUR_MS, episodes: 3 * 24 * HOUR_MS, raw: 3 * 24 * HOUR_MS };
const RAW_SALIENCE = { own: 1, other: 0.5 };
/** Length of the beginning of a text that is compared with other texts, in UTF-16 units. */
const COMPARED_CHARS = 2000;

export async function bundleOf(candidates: ContextCandidates, query: ContextQuery): Promise<ContextBundle> {
  const age = (moment: Date) => candidates.generatedAt.getTime() - moment.getTime();
  const asked = query.query ?? query.goal ?? '';
  const facts = await chooseRows(candidates.facts, asked, query.maxFacts, HALF_LIFE_MS.facts, (row) => ({
    text: row.text,
    saidMs: dateOf(row).getTime(),
    from: 'fact',
    slot: row.slot,
    pinned: row.pinned,
    ageMs: age(row.recordedAt),
    salience: row.confidence,
    sources: row.support,
  }));
  const episodes = await chooseRows(
    candidates.episodes,
    asked,
    query.maxEpisodes,
    HALF_LIFE_MS.episodes,
    (row) => ({
      text: `${row.title} ${row.summary}`,
      saidMs: row.endedAt.getTime(),
      from: 'others',
      ageMs: age(row.endedAt),
      salience: row.salience,
      sources: row.support,
    }),
  );
  const raw = await chooseRows(candidates.raw, asked, query.maxRaw, HALF_LIFE_MS.raw, (row) => ({
    text: row.content,
    saidMs: row.occurredAt.getTime(),
    from: isEvidence(row) ? 'person' : 'others',
    pinned: query.ownFirst === true && isEvidence(row),
    ageMs: age(row.occurredAt),
    salience: isEvidence(row) ? RAW_SALIENCE.own : RAW_SALIENCE.other,
    sources: 0,
  }));
  // In slices, because masking 4 MiB of each tier takes more than a second.
  const chosenRows = {
    profile: candidates.profile && withoutSecrets(candidates.profile),
    facts: await mapInSlices(facts.toSorted(byDate), withoutSecrets),
    episodes: await mapInSlices(
      episodes.toSorted((a, b) => b.endedAt.getTime() - a.endedAt.getTime() || newestFirst(a, b)),
      withoutSecrets,
    ),
    raw: await mapInSlices(
      raw.toSorted((a, b) => b.occurredAt.getTime() - a.occurredAt.getTime() || newestFirst(a, b)),
      withoutSecrets,
    ),
  };
  const byWorth = { facts: idsOf(facts), episodes: idsOf(episodes), raw: idsOf(raw) };
  const lastingRows: FactRow[] = candidates.facts.rows.toSorted(pinnedFirst).slice(0, query.maxFacts);
  const lasting = await mapInSlices(lastingRows, withoutSecrets);
  return { ...chosenRows, byWorth, lasting, meta: metaOf(candidates, query, chosenRows) };
}

/**
 * `name` is the name of the property that has the value. The recursion is bounded, since `flawOf` limits the depth of
 * clients' JSON.
 */
export function withoutSecrets<Value>(value: Value, name = ''): Value {
  if (typeof value === 'string' || typeof value === 'number') {
    const mask = value === '' ? undefined : maskForName(name);
    return (mask ?? (typeof value === 'string' ? maskSecrets(value) : value)) as Value;
  }
  if (Array.isArray(value)) return value.map((part) => withoutSecrets(part, name)) as Value;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([property, part]) => [property, withoutSecrets(part, property)]),
  ) as Value;
}

/** Ids sort by time of creation. */
const newestFirst = (a: { id: string }, b: { id: string }) => (a.id < b.id ? 1 : -1);
const pinnedFirst = (a: FactRow, b: FactRow) => Number(b.pinned) - Number(a.pinned) || newestFirst(a, b);
const dateOf = ({ validFrom, recordedAt }: FactRow) => validFrom ?? recordedAt;
const byDate = (a: FactRow, b: FactRow) =>
  Number(b.pinned) - Number(a.pinned) || dateOf(b).getTime() - dateOf(a).getTime() || newestFirst(a, b);

async function chooseRows<Row extends { id: string }>(
  { rows }: TierCandidates<Row>,
  asked: string,
  max: number,
  halfLifeMs: number,
  read: (row: Row) => Omit<Merits & Answer, 'relevance'> & { pinned?: boolean },
): Promise<Row[]> {
  const readRows = rows.map(({ relevance, ...rest }) => {
    const row = rest as unknown as Row;
    const { text, ...merits } = read(row);
    return { row, ...merits, text: text.slice(0, COMPARED_CHARS), relevance };
  });
  const relevances = relevancesAsAnswers(asked, readRows);
  const rankedRows = readRows.map(({ row, text, pinned = false, ...merits }, at) => ({
    row,
    text,
    pinned,
    worth: worthOf({ ...merits, relevance: relevances[at] ?? 0 }, halfLifeMs),
  }));
  return chooseBest(rankedRows, max);
}

function metaOf(
  candidates: ContextCandidates,
  { goal, tags = [], recencyMinutes }: ContextQuery,
  { profile, facts, episodes, raw }: Pick<ContextBundle, 'profile' | 'facts' | 'episodes' | 'raw'>,
): ContextMeta {
  const texts = [
    profile === null ? '' : profile.summary + JSON.stringify(profile.data),
    ...facts.map(({ text }) => text),
    ...episodes.flatMap(({ title, summary }) => [title, summary]),
    ...raw.map(({ content }) => content),
  ];
  const counts = {
    facts: { matched: candidates.facts.matched, returned: facts.length },
    episodes: { matched: candidates.episodes.matched, returned: episodes.length },
    raw: { matched: candidates.raw.matched, returned: raw.length },
  };
  const isCut = (tier: keyof typeof counts) =>
    candidates.timedOut || counts[tier].matched > counts[tier].returned;
  return {
    revision: candidates.revision,
    generated_at: candidates.generatedAt.toISOString(),
    window: {
      since: candidates.since?.toISOString() ?? null,
      until: candidates.generatedAt.toISOString(),
      recency_minutes: recencyMinutes,
    },
    filters: { goal: goal ?? null, tags: [...tags] },
    counts,
    timed_out: candidates.timedOut,
    truncated: { facts: isCut('facts'), episodes: isCut('episodes'), raw: isCut('raw') },
    excluded: {
      superseded: candidates.facts.superseded,
      stale: candidates.facts.stale + candidates.episodes.stale,
      expired: candidates.facts.expired,
      not_yet_valid: candidates.facts.notYetValid,
      predicted_origin: candidates.raw.predicted,
    },
    token_estimate: texts.reduce((sum, text) => sum + estimateTokens(text), 0),
    ranking: RANKING_VERSION,
    promotion_backlog: candidates.backlog,
  };
}
