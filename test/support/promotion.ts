import type { PromoteResult } from '../../shared/schemas/jobs.ts';
import type { EpisodeResponse, RawMemoryResponse } from '../../shared/schemas/memory.ts';
import type { UserClient } from './account.ts';
import type { Reply } from './client.ts';
import { type ProviderCall, type Step, structured } from './fake-provider.ts';

interface EpisodeRow {
  n: number;
  by: string;
  words: string;
  agent: string | null;
  text: string;
}

export function rowsIn(call: ProviderCall | undefined): EpisodeRow[] {
  if (call === undefined) throw new Error('the provider was not called');
  return (call.record as unknown as { rows: EpisodeRow[] }).rows;
}

/** Answers the question for an episode in its format, and cites the first row; `part` overrides fields. */
export function writeEpisode(part: object = {}): Step {
  return structured((call) => ({
    title: `About ${rowsIn(call)[0]?.text}`,
    summary: `The person said ${rowsIn(call).length} things.`,
    outcome: 'unknown',
    tags: [],
    salience: 'ordinary',
    cites: [1],
    ...part,
  }));
}

export function promote(
  person: UserClient,
  tier: 'episodes' | 'facts',
  body: object = {},
  headers: Record<string, string> = {},
): Promise<Reply<PromoteResult>> {
  return person.post<PromoteResult>(`/api/memory/promote/${tier}/`, body, { headers });
}

/** Adds what is said in a session, a second apart. Lines that begin with `agent:` are an agent's. */
export async function say(
  person: UserClient,
  lines: readonly string[],
  part: { session_id?: string; at?: number } = {},
): Promise<RawMemoryResponse[]> {
  const { session_id = 's-1', at = Date.UTC(2026, 4, 1, 12) } = part;
  const rows = lines.map((line, n) => {
    const [, words = ''] = line.match(/^agent:(.*)$/) ?? [];
    const message = words === '' ? { kind: 'reply', content: line } : { kind: 'prompt', content: words };
    return { ...message, agent: 'coder', session_id, occurred_at: new Date(at + n * 1000).toISOString() };
  });
  const { status, text, body } = await person.post<RawMemoryResponse[]>('/api/memory/raw/', rows);
  if (status !== 201) throw new Error(`adding was answered ${status} ${text}`);
  return body;
}

/** Returns the latest 200 episodes, earliest first. */
export async function episodesOf(person: UserClient): Promise<EpisodeResponse[]> {
  const { body } = await person.get<{ results: EpisodeResponse[] }>('/api/memory/episodes/?limit=200');
  return body.results.toReversed();
}

/** Returns the latest 200 raw rows, earliest first. */
export async function rawOf(person: UserClient): Promise<RawMemoryResponse[]> {
  const { body } = await person.get<{ results: RawMemoryResponse[] }>('/api/memory/raw/?limit=200');
  return body.results.toReversed();
}
