import assert from 'node:assert/strict';
import { createContext, Script } from 'node:vm';
import { relevancesAsAnswers } from '../../../shared/domain/answers.ts';
import { questionOf } from '../../../shared/domain/context-envelope.ts';
import { isNearDuplicate, isOtherValue, isSameValue } from '../../../shared/domain/facts/compare.ts';
import { QuotedTexts } from '../../../shared/domain/facts/passage.ts';
import { pastedParts, spokenParts } from '../../../shared/domain/facts/source.ts';
import { isInstruction } from '../../../shared/domain/facts/statement.ts';
import { slotOf } from '../../../shared/domain/facts/topics.ts';
import { haveSameMeaning } from '../../../shared/text/meaning.ts';
import { statementsIn } from '../../../workers/memory/extract-facts.ts';

const extract = (content: string) =>
  statementsIn({ id: 'row', content, role: 'human', origin: 'human', occurredAt: new Date(0) });

const READERS: Record<string, (text: string) => unknown> = {
  'finding statements in a row': extract,
  'finding what a person says in a row': spokenParts,
  'finding what is pasted into a row': pastedParts,
  'finding a quote in a row': (text) => new QuotedTexts([text]).passageOf(text),
  'deciding whether two facts are the same': (text) => isNearDuplicate(text, `${text} `),
  'deciding whether two facts give the same value': (text) =>
    isSameValue(`tea ${text}`, `${text} tea`, 'own.drink'),
  'deciding whether two facts give different values': (text) =>
    isOtherValue(`${text} npm`, `${text} pnpm`, 'tool.a'),
  'deciding whether a fact is an instruction': isInstruction,
  'finding the slot of a fact': slotOf,
  'comparing a reply': (text) => haveSameMeaning(text, `${text} `),
  'ranking an answer': (text) =>
    relevancesAsAnswers(`${text}?`, [{ text, saidMs: 0, from: 'person', relevance: 1 }]),
  'finding the question of a draft': (text) => questionOf({ draft: { text, revision: 0 }, messages: [] }),
};

/** Repeated, these parts let patterns begin to match at every place, and complete a match at none. */
const PARTS = [
  ...` |\n|,|"|'|-|1|a, |yy,|note that |. |\n>|\n\`\`\`|\n---|from |moved from `.split('|'),
  // Sentences that each take long to read.
  `${'yy,'.repeat(60)}; I prefer tea. `,
  `${'no, '.repeat(50)}; I prefer tea. `,
  `${'I use a and '.repeat(19)}. `,
  `${'I live a and I drink a and '.repeat(8)}. `,
];

/** Lengths of texts in characters: of a sentence, of a long fact, and beyond the limit of any row. */
const LENGTHS = [200, 8 * 1024, 128 * 1024];
/** In linear time the longest text takes a tenth of this CPU time, in quadratic time several times as much. */
const LIMIT_MS = 1000;
/** Wall-clock time, in case other processes take the CPU. */
const INTERRUPT_MS = 10_000;

/** Interrupts the call after INTERRUPT_MS even in a pattern match. */
function runLimited(call: () => unknown): void {
  const before = process.cpuUsage();
  new Script('call()').runInContext(createContext({ call }), { timeout: INTERRUPT_MS });
  const { user, system } = process.cpuUsage(before);
  assert.ok((user + system) / 1000 < LIMIT_MS);
}

describe('hostile texts', () => {
  for (const [what, read] of Object.entries(READERS))
    it(`${what} takes less than a second of CPU time for a hostile text of 128 Ki characters`, () => {
      for (const length of LENGTHS)
        for (const part of PARTS) {
          const text = `from ${part.repeat(length / part.length)}!`;
          assert.doesNotThrow(
            () => runLimited(() => read(text)),
            `${length} characters: ${JSON.stringify(part)}`,
          );
        }
    });
});
