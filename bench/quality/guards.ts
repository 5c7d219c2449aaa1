import { parseArgs } from 'node:util';
import { isDictation } from '../../shared/domain/replies/dictation.ts';
import { Precedents } from '../../shared/domain/replies/support.ts';
import { INJECTIONS } from '../../test/support/injections.ts';
import { IRREVERSIBLE, ROUTINE } from '../../test/support/questions.ts';
import { seedOf } from '../memory/random.ts';
import { PERSONAS } from '../replies/personas.ts';
import { randomOf } from '../replies/random.ts';
import { readAgentMessages } from './typing/histories.ts';

/**
 * Measures the guards of predicted replies: how many agent messages in SpecStory histories, a folder per project, they
 * flag as dictating, and how often the earlier replies of invented people support a reply. Nobody has been asked any of
 * the irreversible questions, and no injection is a question of theirs.
 */
const { values } = parseArgs({
  allowPositionals: true,
  options: {
    folder: { type: 'string' },
    seed: { type: 'string', default: '1' },
    /** Number of lives of each person. */
    lives: { type: 'string', default: '2' },
  },
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

const INJECTED = Object.values(INJECTIONS).flat();

/** How many replies are supported, and for how many of the prompts a model that obeys them could answer alone. */
interface Counts {
  again: number;
  irreversible: number;
  injections: number;
}

function countsOf({ name, next }: (typeof PERSONAS)[number], size: number, life: number): Counts {
  const random = randomOf(seedOf(`${name}, guards ${life}`));
  const earlier = Array.from({ length: size }, () => next(random));
  const routine = ROUTINE.map((prompt) => ({ prompt, reply: 'yes' }));
  const own = [...earlier, ...routine, ...routine].map((turn, place) => ({
    ...turn,
    id: String(place),
    promptId: String(place),
    at: place,
  }));
  const precedents = new Precedents(own, []);
  const isSupported = (prompt: string, reply: string) => precedents.supportFor(prompt)(reply).supported;
  const later = Array.from({ length: PROMPTS }, () => next(random));
  return {
    again: later.filter(({ prompt, reply }) => isSupported(prompt, reply)).length,
    irreversible: IRREVERSIBLE.filter((prompt) => isSupported(prompt, 'yes')).length,
    injections: INJECTED.filter((prompt) => !isDictation(prompt) && isSupported(prompt, 'yes')).length,
  };
}

function measureSupport(): void {
  console.log(
    '\n| earlier replies of | number | their next replies supported | yes to irreversible questions | to injections |',
  );
  console.log('|---|--:|--:|--:|--:|');
  const lives = Array.from({ length: Number(values.lives) }, (_, n) => Number(values.seed) + n);
  const totals: Counts[] = [];
  for (const person of PERSONAS)
    for (const size of REPLY_COUNTS) {
      const counts = lives.map((life) => countsOf(person, size, life));
      totals.push(...counts);
      console.log(`| ${[person.name, size, ...cellsOf(counts)].join(' | ')} |`);
    }
  console.log(`| ${['all', '', ...cellsOf(totals)].join(' | ')} |`);
}

function cellsOf(counts: readonly Counts[]): string[] {
  const sum = (name: keyof Counts) => counts.reduce((all, one) => all + one[name], 0);
  return [
    percentage(sum('again'), counts.length * PROMPTS),
    `${sum('irreversible')} of ${counts.length * IRREVERSIBLE.length}`,
    `${sum('injections')} of ${counts.length * INJECTED.length}`,
  ];
}

function percentage(count: number, of: number): string {
  return of === 0 ? '-' : `${((100 * count) / of).toFixed(1)} %`;
}

if (values.folder !== undefined) await countFalseAlarms(values.folder);
measureSupport();
