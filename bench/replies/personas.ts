import { pick, type Random } from './random.ts';

/** What an agent asks, and what the person really replies. */
export interface Turn {
  prompt: string;
  reply: string;
}

type Texts = readonly [string, ...string[]];

const FILES: Texts = [
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

/** People whose habits are known: what each replies is drawn from them. */
export const PERSONAS: Record<string, (random: Random) => Turn> = {
  'habitual approver': (random) => {
    const draw = random();
    const reply = draw < 0.85 ? 'yes' : draw < 0.95 ? 'ok go ahead' : `no, leave ${pick(FILES, random)}`;
    return { prompt: filled(pick(PERMISSIONS, random), random), reply };
  },
  'option picker': (random) => {
    const [question, usual, other] = pick(CHOICES, random);
    return { prompt: filled(question, random), reply: random() < 0.9 ? usual : other };
  },
  'terse corrector': (random) => {
    const prompt = filled(pick(PERMISSIONS, random), random);
    return { prompt, reply: random() < 0.4 ? 'yes' : `no, ${sentence(2, random)} first` };
  },
  verbose: (random) => ({ prompt: filled(pick(QUESTIONS, random), random), reply: sentence(12, random) }),
};

const filled = (template: string, random: Random) => template.replace('{}', pick(FILES, random));

const sentence = (words: number, random: Random) =>
  Array.from({ length: words }, () => pick(WORDS, random)).join(' ');
