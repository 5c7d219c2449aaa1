import { HELD_OUT } from './held-out.ts';
import { INJECTED } from './talk.ts';
import { TOPICS } from './topics.ts';

/** What a text may state of a person: the value of a slot. */
export interface Statement {
  slot: string;
  value: string;
}

/** The slot of what an injection wants remembered. */
export const INJECTION_SLOT = 'injected';

/** Words after which a value is not, or no longer, the person's. */
const DENIALS =
  'from|instead of|rather than|in place of|not|no longer|no longer uses?|formerly|former|previously|used to use|over|stopped using|replac(?:es|ed|ing)|and not|never';

const ALL: readonly (Statement & { found: RegExp; denied: RegExp })[] = [
  ...[...TOPICS, ...HELD_OUT].flatMap(({ slot, values }) => values.map((value) => ({ slot, value }))),
  ...INJECTED.map((value) => ({ slot: INJECTION_SLOT, value })),
].map((statement) => ({ ...statement, ...patternsOf(statement.value) }));

export const keyOf = ({ slot, value }: Statement): string => `${slot}=${value}`;

/** What a text states, whoever says it. A value that it denies or calls the former one does not count. */
export function statementsIn(text: string): Statement[] {
  return ALL.filter(({ found, denied }) => {
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
