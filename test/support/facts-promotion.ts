import type { EpisodeResponse, FactResponse, RawMemoryResponse } from '../../shared/schemas/memory.ts';
import type { FactsAnswer } from '../../workers/memory/facts-prompt.ts';
import type { UserClient } from './account.ts';
import { type ProviderCall, type Step, structured } from './fake-provider.ts';
import { add } from './memory.ts';

export type ProposedFact = FactsAnswer['facts'][number];

/** What a model was shown when it was asked for facts. */
export interface FactsRecord {
  facts: { n: number; text: string; slot: string | null }[];
  episodes: { title: string; rows: { n: number; by: string; text: string }[] }[];
}

export const recordOf = (call: ProviderCall) => call.record as unknown as FactsRecord;

/** A fact as a model proposes it: by the words that it quotes, from the row that has them. */
export type Proposal = Partial<ProposedFact> & { text: string; quote: string };

/** The answer of a model that proposes these facts of whatever it is shown. */
export function proposing(...proposals: Proposal[]): Step {
  return structured((call) => ({
    facts: proposals.flatMap((proposal) => proposed(proposal, recordOf(call))),
  }));
}

function proposed({ quote, ...fact }: Proposal, { episodes }: FactsRecord): ProposedFact[] {
  const row = episodes.flatMap(({ rows }) => rows).find(({ text }) => text.includes(quote));
  if (row === undefined && fact.evidence === undefined) return [];
  return [
    {
      evidence: [{ source: row?.n ?? 0, quote }],
      kind: 'preference',
      slot: null,
      valid_from: null,
      valid_to: null,
      relation: 'new',
      target: null,
      salience: 3,
      ...fact,
    },
  ];
}

/** A text is the person's; others say who wrote it. */
export type Line = string | (Partial<RawMemoryResponse> & { content: string });

/** One episode of raw rows. */
export async function episode(
  person: UserClient,
  lines: readonly Line[],
  day = 1,
): Promise<{ episode: EpisodeResponse; rows: RawMemoryResponse[] }> {
  const at = (second: number) => new Date(Date.UTC(2026, 4, day, 12, 0, second)).toISOString();
  const rows: RawMemoryResponse[] = [];
  for (const [second, line] of lines.entries()) {
    const said = typeof line === 'string' ? { content: line, kind: 'reply' } : line;
    rows.push(await add(person, 'raw', { occurred_at: at(second), ...said }));
  }
  const [started_at, ended_at] = [at(0), at(lines.length)];
  const raw_ids = rows.map(({ id }) => id);
  const made = await add(person, 'episodes', {
    title: 'Title',
    summary: 'Summary',
    started_at,
    ended_at,
    raw_ids,
  });
  return { episode: made, rows };
}

export const byAgent = (content: string) => ({ content, kind: 'message', agent: 'coder' }) as const;

/** All facts, the newest first. */
export async function factsOf(person: UserClient): Promise<FactResponse[]> {
  const { body } = await person.request<{ results: FactResponse[] }>('GET', '/api/memory/facts/?limit=200');
  return body.results;
}

/** The texts of the facts that hold, in order. */
export async function currentTexts(person: UserClient): Promise<string[]> {
  const facts = await factsOf(person);
  return facts
    .filter(({ superseded_by }) => superseded_by === null)
    .map(({ text }) => text)
    .sort();
}
