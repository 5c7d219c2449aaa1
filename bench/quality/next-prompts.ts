import { parseArgs } from 'node:util';
import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import type { Message } from '../../shared/schemas/predictions.ts';
import { endsWithClosedQuestion, haveSameMeaning } from '../../shared/text/meaning.ts';
import { LocalProvider } from '../../workers/providers/local.ts';
import { seedOf } from '../memory/random.ts';
import { PERSONAS } from '../replies/personas.ts';
import { randomOf } from '../replies/random.ts';
import { conversationBefore, readHistories } from './typing/histories.ts';

/**
 * Measures the built-in predictor on whole prompts, which it suggests before there is a draft: the share of a person's
 * turns for which it shows one, and the share of the shown prompts that mean the same as what the person then writes.
 * Runs on sessions of invented people with an agent, or on a folder of histories.
 */
const { values } = parseArgs({
  allowPositionals: true,
  options: {
    lives: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    folder: { type: 'string' },
    /** Number of choices that are shown at once. */
    choices: { type: 'string', default: '1' },
  },
});

const TURNS = 40;
/** Default threshold of an app. */
const SHOW_THRESHOLD = 0.3;

const TASK: Omit<PredictionTask, 'messages'> = {
  mode: 'next_prompt',
  draft: '',
  draftHead: '',
  artifact: null,
  language: 'auto',
  preferences: '',
  memory: null,
};

const provider = new LocalProvider();
const call = {
  model: 'local',
  signal: new AbortController().signal,
  timeoutMs: 1000,
  charge: { accountId: null, appId: null, workId: 'bench', attempt: 1, kind: 'predict' },
};

class Tally {
  readonly #name: string;
  #turns = 0;
  #shown = 0;
  #right = 0;
  #asked = 0;
  #rightOfAsked = 0;

  constructor(name: string) {
    this.#name = name;
  }

  async add(messages: readonly Message[], written: string): Promise<void> {
    this.#turns += 1;
    const alternatives = Number(values.choices) - 1;
    const guess = await provider.predict({ ...TASK, messages, alternatives }, call);
    const isAsked = endsWithClosedQuestion(messages.at(-1)?.content ?? '');
    this.#asked += Number(isAsked);
    if (guess.completion === '' || (guess.together ?? guess.confidence) < SHOW_THRESHOLD) return;
    const choices = [guess.completion, ...(guess.alternatives ?? [])];
    const isRight = choices.some((choice) => haveSameMeaning(choice, written));
    this.#shown += 1;
    this.#right += Number(isRight);
    this.#rightOfAsked += Number(isRight && isAsked);
  }

  print(): void {
    const share = (part: number, of: number) => (of === 0 ? '-' : `${((100 * part) / of).toFixed(1)} %`);
    const cells = [
      share(this.#shown, this.#turns),
      share(this.#right, this.#shown),
      share(this.#rightOfAsked, this.#asked),
    ];
    console.log(`| ${[this.#name, this.#turns, ...cells].join(' | ')} |`);
  }
}

console.log('| person | turns | shown | right of shown | right of approvals and choices |');
console.log('|---|--:|--:|--:|--:|');
if (values.folder === undefined)
  for (const { name, next } of PERSONAS) {
    const tally = new Tally(name);
    for (let life = 0; life < Number(values.lives); life += 1) {
      const random = randomOf(seedOf(`${name}, session ${Number(values.seed) + life}`));
      const messages: Message[] = [];
      for (let turn = 0; turn < TURNS; turn += 1) {
        const { prompt, reply } = next(random);
        messages.push({ role: 'assistant', origin: 'agent', content: prompt });
        await tally.add(messages, reply);
        messages.push({ role: 'user', origin: 'human', content: reply });
      }
    }
    tally.print();
  }
else
  for (const { person, messages } of await readHistories(values.folder)) {
    const tally = new Tally(person);
    for (const [at, { text }] of messages.entries()) await tally.add(conversationBefore(messages, at), text);
    tally.print();
  }
