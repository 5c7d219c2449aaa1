import { sentence, THINGS } from './personas.ts';
import { pick, type Random } from './random.ts';

export interface Draft {
  agent: string;
  text: string;
}

export interface Writer {
  name: string;
  next(random: Random): Draft;
}

const TASKS = [
  'Please add a test for {}',
  'Find out why {} is slow',
  'Rename the helpers in {}',
  'Write down how {} works',
  'Remove what nobody uses from {}',
] as const;
const ENDINGS = [
  ', and run the linter before you commit.',
  ', but do not touch the public interface.',
  '. Keep the change small.',
] as const;
const ORDERS = [
  'Run the tests again and show me what fails.',
  'Commit this with a short message.',
  'Explain the last change in two sentences.',
  'Go on with the next file on the list.',
  'Undo that and try something simpler.',
  'Update the changelog, then open a pull request.',
] as const;

export const WRITERS: readonly Writer[] = [
  {
    name: 'repeats orders (six, the first most often)',
    next: (random) => ({
      agent: 'Done.',
      // Squaring makes the first orders more frequent.
      text: ORDERS[Math.floor(random() ** 2 * ORDERS.length)] ?? ORDERS[0],
    }),
  },
  {
    name: 'fills templates (of what the agent just named)',
    next(random) {
      const thing = pick(THINGS, random);
      const text = pick(TASKS, random).replace('{}', thing) + pick(ENDINGS, random);
      return { agent: `Done. There is something left to do in ${thing}.`, text };
    },
  },
  {
    name: 'writes twelve words in any order',
    next: (random) => ({ agent: 'Done.', text: sentence(12, random) }),
  },
];
