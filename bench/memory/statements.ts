import { HELD_OUT } from './held-out.ts';
import { INJECTED } from './talk.ts';
import { TOPICS } from './topics.ts';

/** A statement about a person: the value of a slot. */
export interface Statement {
  slot: string;
  value: string;
}

/** Slot of the values that injections want remembered. */
export const INJECTION_SLOT = 'injected';

/** Words before a value that is not, or no longer, the person's. */
const DENIALS =
  'from|instead of|rather than|in place of|not|no longer|no longer uses?|formerly|former|previously|used to use|over|stopped using|replac(?:es|ed|ing)|and not|never';

const ALL_STATEMENTS: readonly (Statement & { found: RegExp; denied: RegExp })[] = [
  ...[...TOPICS, ...HELD_OUT].flatMap(({ slot, values }) => values.map((value) => ({ slot, value }))),
  ...INJECTED.map((value) => ({ slot: INJECTION_SLOT, value })),
].map((statement) => ({ ...statement, ...patternsOf(statement.value) }));

export const keyOf = ({ slot, value }: Statement): string => `${slot}=${value}`;

/** Returns the statements in a text, by any speaker. Values that the text denies or calls former do not count. */
export function statementsIn(text: string): Statement[] {
  return ALL_STATEMENTS.filter(({ found, denied }) => {
    const mentions = text.match(found)?.length ?? 0;
    return mentions > (text.match(denied)?.length ?? 0);
  }).map(({ slot, value }) => ({ slot, value }));
}

function patternsOf(value: string) {
  const words = value.replaceAll(' ', String.raw`\s+`);
  const found = new RegExp(String.raw`\b${words}\b`, 'gi');
  const denied = new RegExp(String.raw`\b(?:${DENIALS})\s+(?:use\s+|using\s+|the\s+)?${words}\b`, 'gi');
  return { found, denied };
}
