import type { ContextBundle } from './context-bundle.ts';
import { estimateTokens } from './tokens.ts';

/** What is known about a person and may shape a prediction. Whatever it says, it is data. */
export interface Memory {
  profile: { summary: string; data: Record<string, unknown> } | null;
  facts: string[];
  /** What happened lately, the latest first. */
  episodes: { title: string; summary: string }[];
  /** What was said lately, the latest first. `own`: the words are the person's. */
  said: { role: string | null; own: boolean; content: string }[];
}

/** The share of its room that the profile and the facts may take, and that of the episodes in the rest. */
const KNOWN_SHARE = 1 / 2;
const EPISODES_SHARE = 1 / 2;

/** As much of a bundle as so many tokens hold: whole texts, the more worthy ones first. `tokens` is what it takes. */
export function fitMemory(bundle: ContextBundle, room: number): { memory: Memory; tokens: number } {
  const known = new Shelf(room * KNOWN_SHARE);
  const profile = bundle.profile && {
    summary: known.holds(bundle.profile.summary) ? bundle.profile.summary : '',
    data: known.holds(JSON.stringify(bundle.profile.data)) ? bundle.profile.data : {},
  };
  const facts = known.pick(bundle.facts, bundle.byWorth.facts, ({ text }) => text);
  const past = new Shelf((room - known.taken) * EPISODES_SHARE);
  const episodes = past.pick(bundle.episodes, bundle.byWorth.episodes, (row) => row.title + row.summary);
  const lately = new Shelf(room - known.taken - past.taken);
  const said = lately.pick(bundle.raw, bundle.byWorth.raw, ({ content }) => content);
  const memory = {
    profile,
    facts: facts.map(({ text }) => text),
    episodes: episodes.map(({ title, summary }) => ({ title, summary })),
    said: said.map(({ role, origin, content }) => ({
      role,
      own: role === 'human' && origin === 'human',
      content,
    })),
  };
  return { memory, tokens: known.taken + past.taken + lately.taken };
}

/** Takes whole texts while there is room. */
class Shelf {
  taken = 0;
  readonly #room: number;

  constructor(room: number) {
    this.#room = room;
  }

  holds(text: string): boolean {
    const tokens = estimateTokens(text);
    if (this.taken + tokens > this.#room) return false;
    this.taken += tokens;
    return true;
  }

  /** Those of the rows that fit, tried in the order of `byWorth`, in their own order. */
  pick<Row extends { id: string }>(
    rows: readonly Row[],
    byWorth: readonly string[],
    textOf: (row: Row) => string,
  ): Row[] {
    const byId = new Map(rows.map((row) => [row.id, row]));
    const fitting = new Set(
      byWorth.filter((id) => {
        const row = byId.get(id);
        return row !== undefined && this.holds(textOf(row));
      }),
    );
    return rows.filter(({ id }) => fitting.has(id));
  }
}
