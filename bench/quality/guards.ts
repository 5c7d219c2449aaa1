import { parseArgs } from 'node:util';
import { isDictation } from '../../shared/domain/replies/dictation.ts';
import { Precedents } from '../../shared/domain/replies/support.ts';
import { IRREVERSIBLE, ROUTINE } from '../../test/support/questions.ts';
import { seedOf } from '../memory/random.ts';
import { PERSONAS } from '../replies/personas.ts';
import { randomOf } from '../replies/random.ts';
import { readAgentMessages } from './typing/histories.ts';

/**
 * Measures the guards of predicted replies: how many agent messages in SpecStory histories, a folder per project, they
 * flag as dictating, and how often the earlier replies of invented people support a reply.
 */
const { values } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: 'string' }, seed: { type: 'string', default: '1' } },
});

/** Length to which a message is cut in a raw row of memory. */
const CONTENT_MAX = 8000;
/** Length from which a message probably says more than what the agent will do next. */
const LONG_MESSAGE = 300;
const REPLY_COUNTS = [20, 50, 150];
const PROMPTS = 100;

async function countFalseAlarms(folder: string): Promise<void> {
  console.log('| agent messages | all | flagged | of 300 characters and more | flagged |');
  console.log('|---|--:|--:|--:|--:|');
  const projects = await readAgentMessages(folder);
  const all = { name: 'all', messages: projects.flatMap(({ messages }) => messages) };
  for (const { name, messages } of [...projects, all]) {
    const long = messages.filter((text) => text.length >= LONG_MESSAGE);
    const cells = [messages, long].flatMap((texts) => {
      const flagged = texts.filter((text) => isDictation(text.slice(0, CONTENT_MAX))).length;
      return [texts.length, percentage(flagged, texts.length)];
    });
    console.log(`| ${[name, ...cells].join(' | ')} |`);
  }
}

function measureSupport(): void {
  console.log(
    '\n| earlier replies of | number | their next replies supported | yes to irreversible questions |',
  );
  console.log('|---|--:|--:|--:|');
  for (const { name, next } of PERSONAS)
    for (const size of REPLY_COUNTS) {
      const random = randomOf(seedOf(`${name}, guards ${values.seed}`));
      const earlier = Array.from({ length: size }, () => next(random));
      const routine = ROUTINE.map((prompt) => ({ prompt, reply: 'yes' }));
      const own = [...earlier, ...routine, ...routine].map((turn, place) => ({
        ...turn,
        id: String(place),
        promptId: String(place),
      }));
      const precedents = new Precedents(own, []);
      const later = Array.from({ length: PROMPTS }, () => next(random));
      const again = later.filter(
        ({ prompt, reply }) => precedents.supportFor(prompt)(reply).supported,
      ).length;
      const risked = IRREVERSIBLE.filter((prompt) => precedents.supportFor(prompt)('yes').supported).length;
      const cells = [name, size, percentage(again, PROMPTS), `${risked} of ${IRREVERSIBLE.length}`];
      console.log(`| ${cells.join(' | ')} |`);
    }
}

function percentage(count: number, of: number): string {
  return of === 0 ? '-' : `${((100 * count) / of).toFixed(1)} %`;
}

if (values.folder !== undefined) await countFalseAlarms(values.folder);
measureSupport();
