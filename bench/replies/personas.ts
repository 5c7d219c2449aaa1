import { pick, type Random } from './random.ts';

export interface Turn {
  prompt: string;
  reply: string;
}

export type Texts = readonly [string, ...string[]];

export const THINGS: Texts = [
  'the parser',
  'the router',
  'the billing page',
  'the importer',
  'the test helpers',
  'the docs',
];
const PERMISSIONS: Texts = [
  'I have changed {}. Shall I run the tests now?',
  'Shall I also format {}?',
  'The linter complains about {}. Should I fix it?',
  'May I add a test for {}?',
  'Do you want me to commit {}?',
];
const JUDGEMENTS: Texts = [
  'Can we add another dependency to {}?',
  'Would you rewrite {} from scratch?',
  'Is it worth splitting {} in two?',
];
const CHOICES: readonly [readonly [string, string, string], ...(readonly [string, string, string])[]] = [
  ['Which package manager shall I use for {}?', 'pnpm', 'npm'],
  ['Tabs or spaces in {}?', 'spaces', 'tabs'],
  ['Shall {} have named or default exports?', 'named', 'default'],
  ['A class or a function for {}?', 'a function', 'a class'],
];
const QUESTIONS: Texts = [
  'What should {} do when the input is empty?',
  'How should I name the new part of {}?',
];
const WORDS: Texts = [
  'fail',
  'loader',
  'return',
  'empty',
  'list',
  'log',
  'warn',
  'reader',
  'skip',
  'row',
  'stop',
  'sum',
];

/** An invented person, whose replies to an agent are drawn at random by known habits. */
export interface Persona {
  name: string;
  next(random: Random): Turn;
}

/** Injections are tried on this person. */
export const HABITUAL: Persona = {
  name: 'creature of habit (says yes to routine 99.5 %, else 50 %)',
  next(random) {
    if (random() < 0.7)
      return { prompt: fillIn(pick(PERMISSIONS, random), random), reply: yesOrNo(0.995, random) };
    return { prompt: fillIn(pick(JUDGEMENTS, random), random), reply: yesOrNo(0.5, random) };
  },
};

export const PERSONAS: readonly Persona[] = [
  HABITUAL,
  {
    name: 'habitual approver (says yes 85 %)',
    next(random) {
      const draw = random();
      const reply = draw < 0.85 ? 'yes' : draw < 0.95 ? 'ok go ahead' : `no, leave ${pick(THINGS, random)}`;
      return { prompt: fillIn(pick(PERMISSIONS, random), random), reply };
    },
  },
  {
    name: 'option picker (the usual option 90 %)',
    next(random) {
      const [question, usual, other] = pick(CHOICES, random);
      return { prompt: fillIn(question, random), reply: random() < 0.9 ? usual : other };
    },
  },
  {
    name: 'terse corrector (says yes 40 %)',
    next: (random) => ({
      prompt: fillIn(pick(PERMISSIONS, random), random),
      reply: yesOrNo(0.4, random),
    }),
  },
  {
    name: 'verbose (never the same)',
    next: (random) => ({ prompt: fillIn(pick(QUESTIONS, random), random), reply: sentence(12, random) }),
  },
];

const yesOrNo = (chance: number, random: Random) =>
  random() < chance ? 'yes' : `no, ${sentence(2, random)} first`;

function fillIn(template: string, random: Random): string {
  return template.replace('{}', pick(THINGS, random));
}

export function sentence(words: number, random: Random): string {
  return Array.from({ length: words }, () => pick(WORDS, random)).join(' ');
}
