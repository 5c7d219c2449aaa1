import { type Random, seeded } from '../memory/random.ts';

/** A reply, and how likely the person is to send it. */
export interface Chance {
  reply: string;
  p: number;
}

/** One turn: what an agent asks, how the person may answer, and what they answered. */
export interface Turn {
  situation: Situation;
  agent: string;
  question: string;
  /** All that the person may answer; the shares add up to 1. */
  chances: readonly Chance[];
  reply: string;
}

export interface ReplyPersona {
  name: string;
  policy: Policy;
  turns: Turn[];
}

export interface ReplyPersonaOptions {
  seed: number;
  personas: number;
  turns: number;
}

const SITUATIONS = ['approval', 'choice', 'clarification', 'report'] as const;
export type Situation = (typeof SITUATIONS)[number];

export const POLICIES = ['habitual approver', 'terse corrector', 'option picker', 'verbose'] as const;
export type Policy = (typeof POLICIES)[number];

const THINGS = ['parser', 'upload', 'ledger', 'mailer', 'search', 'cursor', 'archive', 'router'];
const AGENTS = ['coder', 'reviewer'];

const QUESTIONS: Record<Situation, readonly string[]> = {
  approval: ['The {} is changed. Shall I commit it?', 'Tests of the {} pass. Shall I open a pull request?'],
  choice: [
    'For the {}: (a) keep the old interface or (b) break it?',
    'The {} can be (a) simple or (b) fast.',
  ],
  clarification: [
    'What should the {} do with an empty body?',
    'Which error does the {} give when it is full?',
  ],
  report: ['The {} is done.', 'I have renamed the {} everywhere.'],
};

/** How each sort of person answers; the rest of the shares is a new instruction, which nobody can foresee. */
const HABITS: Record<Policy, Record<Situation, readonly Chance[]>> = {
  'habitual approver': {
    approval: [{ reply: 'yes', p: 0.9 }],
    choice: [{ reply: 'you decide', p: 0.7 }],
    clarification: [{ reply: 'whatever is usual', p: 0.5 }],
    report: [{ reply: 'thanks', p: 0.8 }],
  },
  'terse corrector': {
    approval: [
      { reply: 'no, show me the diff first', p: 0.75 },
      { reply: 'ok', p: 0.15 },
    ],
    choice: [{ reply: 'b', p: 0.5 }],
    clarification: [{ reply: 'throw', p: 0.6 }],
    report: [{ reply: 'run the tests again', p: 0.65 }],
  },
  'option picker': {
    approval: [
      { reply: 'yes', p: 0.55 },
      { reply: 'not yet', p: 0.35 },
    ],
    choice: [
      { reply: 'a', p: 0.85 },
      { reply: 'b', p: 0.1 },
    ],
    clarification: [{ reply: 'same as the others', p: 0.45 }],
    report: [{ reply: 'next', p: 0.7 }],
  },
  verbose: {
    approval: [{ reply: 'Yes please, and thank you for asking before you do it.', p: 0.4 }],
    choice: [{ reply: 'I would go for (a) here, because our users know it.', p: 0.3 }],
    clarification: [],
    report: [{ reply: 'Great, thank you very much!', p: 0.5 }],
  },
};

/** Scripted people with known chances, the same for the same options: each policy in turn. */
export function makeReplyPersonas({ seed, personas, turns }: ReplyPersonaOptions): ReplyPersona[] {
  return Array.from({ length: personas }, (_, n) => {
    const random = seeded(seed * 1000 + n);
    const policy = POLICIES[n % POLICIES.length] ?? POLICIES[0];
    const turnOf = () => makeTurn(policy, random);
    return { name: `replier-${n + 1}`, policy, turns: Array.from({ length: turns }, turnOf) };
  });
}

function makeTurn(policy: Policy, random: Random): Turn {
  const situation = random.pick(SITUATIONS);
  const thing = `${random.pick(THINGS)} ${random.below(1000)}`;
  const chances = withTheRest(
    HABITS[policy][situation],
    `${random.pick(['Now', 'First'])} look at the ${thing} again`,
  );
  return {
    situation,
    agent: random.pick(AGENTS),
    question: random.pick(QUESTIONS[situation]).replace('{}', thing),
    chances,
    reply: drawn(chances, random.next()),
  };
}

function withTheRest(habits: readonly Chance[], reply: string): Chance[] {
  const rest = 1 - habits.reduce((all, { p }) => all + p, 0);
  return [...habits, { reply, p: rest }];
}

function drawn(chances: readonly Chance[], point: number): string {
  let below = 0;
  for (const { reply, p } of chances) {
    below += p;
    if (point < below) return reply;
  }
  return chances.at(-1)?.reply ?? '';
}

/** The best that any predictor can do: how often the likeliest reply is the one, on average. */
export function bestPossible(turns: readonly Turn[]): number {
  const best = turns.map(({ chances }) => Math.max(...chances.map(({ p }) => p)));
  return best.reduce((all, p) => all + p, 0) / best.length;
}
