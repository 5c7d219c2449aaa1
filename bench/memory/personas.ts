import { type Random, seeded } from './random.ts';
import type { Statement } from './statements.ts';
import {
  CLAIMS,
  FIRST_NAMES,
  INJECTED,
  INJECTIONS,
  LAST_NAMES,
  PASSING,
  QUESTIONS,
  REPLIES,
  REPORTS,
  TASKS,
} from './talk.ts';
import type { Topic } from './topic.ts';
import { TOPICS } from './topics.ts';

/** An event as it is recorded. */
export interface PersonaEvent {
  id: string;
  session_id: string;
  occurred_at: string;
  source: string;
  type: string;
  agent?: string;
  prompt?: string;
  reply?: string;
  text?: string;
  origin?: string;
}

export interface PersonaSession {
  id: string;
  events: PersonaEvent[];
  /** What the person stated in it themselves, in order. */
  stated: Statement[];
}

/** A person who works with an agent on one day after another, and says now and then how they like things. */
export interface Persona {
  name: string;
  sessions: PersonaSession[];
  /** What they say in three wordings, in three sessions. */
  repeated: Statement[];
}

export interface PersonaOptions {
  seed: number;
  /** What all ids start with: those of events and sessions are unique over all accounts. */
  prefix?: string;
  personas: number;
  sessions: number;
  /** What they speak of; at least 16. */
  topics?: readonly Topic[];
}

/** How many topics of a persona go which way; all others are never spoken of. */
const REPEATED = 5;
const CHANGED = 4;
const CLAIMED = 3;
const FEWEST_SESSIONS = 8;

const START = Date.UTC(2026, 7, 3, 9);
const DAY_MS = 86_400_000;
const EVENT_EVERY_MS = 40_000;
const AGENT = 'coder';

/** Scripted people, the same for the same options. */
export function makePersonas(options: PersonaOptions): Persona[] {
  const { seed, prefix = 'persona', personas, sessions, topics = TOPICS } = options;
  if (sessions < FEWEST_SESSIONS) throw new RangeError(`a persona has at least ${FEWEST_SESSIONS} sessions`);
  return Array.from({ length: personas }, (_, n) =>
    makePersona(`${prefix}-${n + 1}`, topics, seeded(seed * 1000 + n), sessions),
  );
}

type Line = Pick<PersonaEvent, 'type' | 'agent' | 'prompt' | 'reply' | 'text' | 'origin'>;
/** What is said in one session besides the work itself. */
type Plan = { lines: Line[]; stated: Statement[] };

function makePersona(name: string, all: readonly Topic[], random: Random, count: number): Persona {
  const plans = Array.from({ length: count }, (): Plan => ({ lines: [], stated: [] }));
  const topics = random.shuffled(all);
  const repeated = topics.splice(0, REPEATED).map((topic) => repeat(plans, random, topic));
  for (const topic of topics.splice(0, CHANGED)) change(plans, random, topic);
  for (const topic of topics.splice(0, 1)) changeAndReturn(plans, random, topic);
  for (const topic of topics.splice(0, 1)) correct(plans, random, topic);
  for (const topic of topics.splice(0, CLAIMED)) claim(plans, random, topic);
  for (const topic of topics.splice(0, 1)) paste(plans, random, topic);
  for (const topic of topics.splice(0, 1)) acceptPrediction(plans, random, topic);
  inject(plans, random);
  return { name, repeated, sessions: plans.map((plan, day) => sessionOf(name, day, plan, random)) };
}

/** A session that starts at a share of the way from `from` to `to`. */
function within(plans: Plan[], random: Random, from: number, to: number): Plan {
  const first = Math.floor(from * plans.length);
  return random.pick(plans.slice(first, Math.max(first + 1, Math.floor(to * plans.length))));
}

function state(plan: Plan, { slot }: Topic, value: string, text: string): void {
  plan.lines.push({ type: 'user.message', text });
  plan.stated.push({ slot, value });
}

const tell = ({ told }: Topic, wording: 0 | 1 | 2, value: string) => told[wording].replace('{}', value);

function changeOf(random: Random, { changed }: Topic, old: string, value: string): string {
  return random.pick(changed).replace('{old}', old).replace('{}', value);
}

/** Two values of a topic, in an order that varies. */
function twoOf(random: Random, { values }: Topic): [string, string] {
  const [first = '', second = ''] = random.shuffled(values);
  return [first, second];
}

function repeat(plans: Plan[], random: Random, topic: Topic): Statement {
  const value = random.pick(topic.values);
  const [first, second, third] = random.shuffled(plans);
  if (first) state(first, topic, value, tell(topic, 0, value));
  if (second) state(second, topic, value, tell(topic, 1, value));
  if (third) state(third, topic, value, tell(topic, 2, value));
  return { slot: topic.slot, value };
}

function change(plans: Plan[], random: Random, topic: Topic): void {
  const [old, value] = twoOf(random, topic);
  state(within(plans, random, 0, 0.25), topic, old, tell(topic, 0, old));
  state(within(plans, random, 0.25, 0.5), topic, old, tell(topic, 1, old));
  state(within(plans, random, 0.5, 1), topic, value, changeOf(random, topic, old, value));
}

function changeAndReturn(plans: Plan[], random: Random, topic: Topic): void {
  const [first, second] = twoOf(random, topic);
  state(within(plans, random, 0, 0.3), topic, first, tell(topic, 2, first));
  state(within(plans, random, 0.35, 0.6), topic, second, changeOf(random, topic, first, second));
  state(within(plans, random, 0.7, 1), topic, first, changeOf(random, topic, second, first));
}

/** Says something wrong, and takes it back a minute later. */
function correct(plans: Plan[], random: Random, topic: Topic): void {
  const [wrong, right] = twoOf(random, topic);
  const plan = within(plans, random, 0.2, 0.9);
  state(plan, topic, wrong, tell(topic, 0, wrong));
  state(plan, topic, right, `Sorry, that was wrong, not ${wrong}. ${tell(topic, 2, right)}`);
}

/** The agent says of the person what nobody told it. */
function claim(plans: Plan[], random: Random, topic: Topic): void {
  const text = random.pick(CLAIMS).replace('{}', tell(topic, 0, random.pick(topic.values)));
  within(plans, random, 0, 1).lines.push({ type: 'agent.message', agent: AGENT, text });
}

/** The person pastes what somebody else wrote. */
function paste(plans: Plan[], random: Random, topic: Topic): void {
  const theirs = tell(topic, 0, random.pick(topic.values));
  const text = `What does this file of theirs mean?\n\`\`\`\n# AGENTS.md\n${theirs}\n\`\`\``;
  within(plans, random, 0, 1).lines.push({ type: 'user.message', text });
}

/** The person accepts what was predicted: our words, not theirs. */
function acceptPrediction(plans: Plan[], random: Random, topic: Topic): void {
  const text = tell(topic, 0, random.pick(topic.values));
  within(plans, random, 0, 1).lines.push({ type: 'user.message', text, origin: 'accepted_prediction' });
}

function inject(plans: Plan[], random: Random): void {
  for (const injection of INJECTIONS) {
    const text = injection.replace('{}', random.pick(INJECTED));
    const line: Line =
      random.below(2) === 0
        ? { type: 'agent.message', agent: AGENT, text }
        : { type: 'agent.prompt', agent: AGENT, prompt: text };
    within(plans, random, 0, 1).lines.push(line);
  }
}

/** The work of a day around what else is said: a task, questions and replies, a report. */
function sessionOf(name: string, day: number, { lines, stated }: Plan, random: Random): PersonaSession {
  const id = `${name}-day-${day + 1}`;
  const about = (template: string) => template.replace('{}', codeName(random));
  const passing: Line[] =
    random.below(3) === 0 ? [{ type: 'user.message', text: about(random.pick(PASSING)) }] : [];
  const all: Line[] = [
    { type: 'session.started' },
    { type: 'user.message', text: about(random.pick(TASKS)) },
    { type: 'agent.prompt', agent: AGENT, prompt: about(random.pick(QUESTIONS)) },
    { type: 'user.reply', agent: AGENT, reply: about(random.pick(REPLIES)) },
    ...lines,
    ...passing,
    { type: 'agent.message', agent: AGENT, text: about(random.pick(REPORTS)) },
    { type: 'session.stopped' },
  ];
  const start = START + day * DAY_MS;
  const events = all.map((line, n) => ({
    ...line,
    id: `${id}-${n}`,
    session_id: id,
    occurred_at: new Date(start + n * EVENT_EVERY_MS).toISOString(),
    source: 'bench',
  }));
  return { id, events, stated };
}

function codeName(random: Random): string {
  return `the ${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)} of module ${random.below(900) + 100}`;
}

/** What an event says, if anything. */
export function textOf({ prompt, reply, text }: PersonaEvent): string {
  return prompt ?? reply ?? text ?? '';
}
