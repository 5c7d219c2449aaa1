import type { EpisodeResponse, FactResponse, RawMemoryResponse } from '../../shared/schemas/memory.ts';
import type { FactsAnswer } from '../../workers/memory/facts-prompt.ts';
import type { UserClient } from './account.ts';
import { type ProviderCall, type Step, structured } from './fake-provider.ts';
import { add } from './memory.ts';

export type ProposedFact = FactsAnswer['facts'][number];

export interface FactsRecord {
  facts: { n: number; text: string; slot: string | null }[];
  episodes: { title: string; rows: { n: number; by: string; text: string }[] }[];
}

export const recordOf = (call: ProviderCall) => call.record as unknown as FactsRecord;

/** A fact as a model proposes it; `quote` is text of the row that supports it. */
export type Proposal = Partial<ProposedFact> & { text: string; quote: string };

/** Proposes each fact if the model is shown a row with the quote, or if the proposal has evidence of its own. */
export function proposeFacts(...proposals: Proposal[]): Step {
  return structured((call) => ({
    facts: proposals.flatMap((proposal) => proposedFacts(proposal, recordOf(call))),
  }));
}

function proposedFacts({ quote, ...fact }: Proposal, { episodes }: FactsRecord): ProposedFact[] {
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

/** One raw row: a plain text is the person's; an object says who wrote it. */
export type Line = string | (Partial<RawMemoryResponse> & { content: string });

export async function addEpisode(
  person: UserClient,
  lines: readonly Line[],
  day = 1,
): Promise<{ episode: EpisodeResponse; rows: RawMemoryResponse[] }> {
  const at = (second: number) => new Date(Date.UTC(2026, 4, day, 12, 0, second)).toISOString();
  const rows: RawMemoryResponse[] = [];
  for (const [second, line] of lines.entries()) {
    const row = typeof line === 'string' ? { content: line, kind: 'reply' } : line;
    rows.push(await add(person, 'raw', { occurred_at: at(second), ...row }));
  }
  const [started_at, ended_at] = [at(0), at(lines.length)];
  const raw_ids = rows.map(({ id }) => id);
  const episode = await add(person, 'episodes', {
    title: 'Title',
    summary: 'Summary',
    started_at,
    ended_at,
    raw_ids,
  });
  return { episode, rows };
}

export const byAgent = (content: string) => ({ content, kind: 'message', agent: 'coder' }) as const;

/** Returns the person's newest facts, at most 200, newest first. */
export async function factsOf(person: UserClient): Promise<FactResponse[]> {
  const { body } = await person.request<{ results: FactResponse[] }>('GET', '/api/memory/facts/?limit=200');
  return body.results;
}

export async function currentTexts(person: UserClient): Promise<string[]> {
  const facts = await factsOf(person);
  return facts
    .filter(({ superseded_by }) => superseded_by === null)
    .map(({ text }) => text)
    .sort();
}
