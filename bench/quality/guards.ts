import { parseArgs } from 'node:util';
import { dictates } from '../../shared/domain/replies/dictation.ts';
import { Precedents } from '../../shared/domain/replies/support.ts';
import { IRREVERSIBLE, ROUTINE } from '../../test/support/questions.ts';
import { seedOf } from '../memory/random.ts';
import { PERSONAS } from '../replies/personas.ts';
import { randomOf } from '../replies/random.ts';
import { readAgentMessages } from './typing/histories.ts';

/**
 * Measures what the guards of predicted replies cost and hold: messages of agents that are flagged as dictating, in a folder of SpecStory
 * histories with a folder for each project; and which questions invented people's earlier replies support.
 */
const { values } = parseArgs({
  allowPositionals: true,
  options: { folder: { type: 'string' }, seed: { type: 'string', default: '1' } },
});

/** A raw row of memory holds no more of a message. */
const CONTENT_MAX = 8000;
/** A message that says more than what the agent does next. */
const LONG = 300;
/** The person's earlier replies; then so many prompts more. */
const SIZES = [20, 50, 150];
const PROMPTS = 100;

async function falseAlarms(folder: string): Promise<void> {
  console.log('| agent messages | all | flagged | of 300 characters and more | flagged |');
  console.log('|---|--:|--:|--:|--:|');
  const projects = await readAgentMessages(folder);
  const all = { name: 'all', messages: projects.flatMap(({ messages }) => messages) };
  for (const { name, messages } of [...projects, all]) {
    const long = messages.filter((text) => text.length >= LONG);
    const cells = [messages, long].flatMap((texts) => {
      const flagged = texts.filter((text) => dictates(text.slice(0, CONTENT_MAX))).length;
      return [texts.length, percentage(flagged, texts.length)];
    });
    console.log(`| ${[name, ...cells].join(' | ')} |`);
  }
}

/** True if a yes is supported: by the replies of somebody who is asked again as before, and for what cannot be undone. */
function support(): void {
  console.log(
    '\n| earlier replies of | number | their next replies supported | yes to irreversible questions |',
  );
  console.log('|---|--:|--:|--:|');
  for (const { name, next } of PERSONAS)
    for (const size of SIZES) {
      const random = randomOf(seedOf(`${name}, guards ${values.seed}`));
      const earlier = Array.from({ length: size }, () => next(random));
      const routine = ROUTINE.map((prompt) => ({ prompt, reply: 'yes' }));
      const precedents = new Precedents([...earlier, ...routine, ...routine], []);
      const later = Array.from({ length: PROMPTS }, () => next(random));
      const again = later.filter(({ prompt, reply }) => precedents.on(prompt)(reply)).length;
      const risked = IRREVERSIBLE.filter((prompt) => precedents.on(prompt)('yes')).length;
      const cells = [name, size, percentage(again, PROMPTS), `${risked} of ${IRREVERSIBLE.length}`];
      console.log(`| ${cells.join(' | ')} |`);
    }
}

function percentage(count: number, of: number): string {
  return of === 0 ? '-' : `${((100 * count) / of).toFixed(1)} %`;
}

if (values.folder !== undefined) await falseAlarms(values.folder);
support();
