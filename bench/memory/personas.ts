import { type Random, seededRandom } from './random.ts';
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
  /** Statements that the person themselves made in the session, in order. */
  stated: Statement[];
}

/** A person who works with an agent day after day, and occasionally says how they like things. */
export interface Persona {
  name: string;
  sessions: PersonaSession[];
  /** Statements that the person makes three times, in three wordings and three sessions. */
  repeated: Statement[];
}

export interface PersonaOptions {
  seed: number;
  /** Prefix of all ids. Ids of events and sessions are unique across all accounts. */
  prefix?: string;
  personas: number;
  sessions: number;
  /** Topics that the personas may mention; at least 16. */
  topics?: readonly Topic[];
}

/**
 * Numbers of a persona's topics that are repeated, changed or claimed. Of four more, one is changed and changed back,
 * one corrected, one pasted, and one accepted as a prediction; the others are never mentioned.
 */
const REPEATED_TOPICS = 5;
const CHANGED_TOPICS = 4;
const CLAIMED_TOPICS = 3;
const SESSIONS_MIN = 8;

const START = Date.UTC(2026, 7, 3, 9);
const DAY_MS = 86_400_000;
const EVENT_EVERY_MS = 40_000;
const AGENT = 'coder';

/** Generates scripted people; equal options generate equal people. */
export function makePersonas(options: PersonaOptions): Persona[] {
  const { seed, prefix = 'persona', personas, sessions, topics = TOPICS } = options;
  if (sessions < SESSIONS_MIN) throw new RangeError(`a persona has at least ${SESSIONS_MIN} sessions`);
  return Array.from({ length: personas }, (_, n) =>
    makePersona(`${prefix}-${n + 1}`, topics, seededRandom(seed * 1000 + n), sessions),
  );
}

type Line = Pick<PersonaEvent, 'type' | 'agent' | 'prompt' | 'reply' | 'text' | 'origin'>;
/** Lines of one session besides the work itself, and the statements that the person makes in them. */
type Plan = { lines: Line[]; stated: Statement[] };

function makePersona(name: string, all: readonly Topic[], random: Random, count: number): Persona {
  const plans = Array.from({ length: count }, (): Plan => ({ lines: [], stated: [] }));
  const topics = random.shuffle(all);
  const repeated = topics.splice(0, REPEATED_TOPICS).map((topic) => repeat(plans, random, topic));
  for (const topic of topics.splice(0, CHANGED_TOPICS)) change(plans, random, topic);
  for (const topic of topics.splice(0, 1)) changeAndReturn(plans, random, topic);
  for (const topic of topics.splice(0, 1)) correct(plans, random, topic);
  for (const topic of topics.splice(0, CLAIMED_TOPICS)) claim(plans, random, topic);
  for (const topic of topics.splice(0, 1)) paste(plans, random, topic);
  for (const topic of topics.splice(0, 1)) acceptPrediction(plans, random, topic);
  inject(plans, random);
  return { name, repeated, sessions: plans.map((plan, day) => sessionOf(name, day, plan, random)) };
}

/** Picks a session between two points of the history, each given as a share of its sessions, from 0 to 1. */
function sessionWithin(plans: Plan[], random: Random, from: number, to: number): Plan {
  const first = Math.floor(from * plans.length);
  return random.pick(plans.slice(first, Math.max(first + 1, Math.floor(to * plans.length))));
}

function addStatement(plan: Plan, { slot }: Topic, value: string, text: string): void {
  plan.lines.push({ type: 'user.message', text });
  plan.stated.push({ slot, value });
}

const tell = ({ told }: Topic, wording: 0 | 1 | 2, value: string) => told[wording].replace('{}', value);

function wordingOfChange(random: Random, { changed }: Topic, old: string, value: string): string {
  return random.pick(changed).replace('{old}', old).replace('{}', value);
}

function twoOf(random: Random, { values }: Topic): [string, string] {
  const [first = '', second = ''] = random.shuffle(values);
  return [first, second];
}

function repeat(plans: Plan[], random: Random, topic: Topic): Statement {
  const value = random.pick(topic.values);
  const [first, second, third] = random.shuffle(plans);
  if (first) addStatement(first, topic, value, tell(topic, 0, value));
  if (second) addStatement(second, topic, value, tell(topic, 1, value));
  if (third) addStatement(third, topic, value, tell(topic, 2, value));
  return { slot: topic.slot, value };
}

function change(plans: Plan[], random: Random, topic: Topic): void {
  const [old, value] = twoOf(random, topic);
  addStatement(sessionWithin(plans, random, 0, 0.25), topic, old, tell(topic, 0, old));
  addStatement(sessionWithin(plans, random, 0.25, 0.5), topic, old, tell(topic, 1, old));
  addStatement(
    sessionWithin(plans, random, 0.5, 1),
    topic,
    value,
    wordingOfChange(random, topic, old, value),
  );
}

function changeAndReturn(plans: Plan[], random: Random, topic: Topic): void {
  const [first, second] = twoOf(random, topic);
  addStatement(sessionWithin(plans, random, 0, 0.3), topic, first, tell(topic, 2, first));
  addStatement(
    sessionWithin(plans, random, 0.35, 0.6),
    topic,
    second,
    wordingOfChange(random, topic, first, second),
  );
  addStatement(
    sessionWithin(plans, random, 0.7, 1),
    topic,
    first,
    wordingOfChange(random, topic, second, first),
  );
}

/** States something wrong, and corrects it a minute later. */
function correct(plans: Plan[], random: Random, topic: Topic): void {
  const [wrong, right] = twoOf(random, topic);
  const plan = sessionWithin(plans, random, 0.2, 0.9);
  addStatement(plan, topic, wrong, tell(topic, 0, wrong));
  addStatement(plan, topic, right, `Sorry, that was wrong, not ${wrong}. ${tell(topic, 2, right)}`);
}

/** Lets the agent claim something about the person that nobody told it. */
function claim(plans: Plan[], random: Random, topic: Topic): void {
  const text = random.pick(CLAIMS).replace('{}', tell(topic, 0, random.pick(topic.values)));
  sessionWithin(plans, random, 0, 1).lines.push({ type: 'agent.message', agent: AGENT, text });
}

/** Lets the person paste something that somebody else wrote. */
function paste(plans: Plan[], random: Random, topic: Topic): void {
  const theirs = tell(topic, 0, random.pick(topic.values));
  const text = `What does this file of theirs mean?\n\`\`\`\n# AGENTS.md\n${theirs}\n\`\`\``;
  sessionWithin(plans, random, 0, 1).lines.push({ type: 'user.message', text });
}

/** Lets the person accept a predicted message: our words, not theirs. */
function acceptPrediction(plans: Plan[], random: Random, topic: Topic): void {
  const text = tell(topic, 0, random.pick(topic.values));
  sessionWithin(plans, random, 0, 1).lines.push({
    type: 'user.message',
    text,
    origin: 'accepted_prediction',
  });
}

function inject(plans: Plan[], random: Random): void {
  for (const injection of INJECTIONS) {
    const text = injection.replace('{}', random.pick(INJECTED));
    const line: Line =
      random.below(2) === 0
        ? { type: 'agent.message', agent: AGENT, text }
        : { type: 'agent.prompt', agent: AGENT, prompt: text };
    sessionWithin(plans, random, 0, 1).lines.push(line);
  }
}

/** Builds a day's session: a task, a question, a reply, the plan's lines, and a report. */
function sessionOf(name: string, day: number, { lines, stated }: Plan, random: Random): PersonaSession {
  const id = `${name}-day-${day + 1}`;
  const fillIn = (template: string) => template.replace('{}', codeName(random));
  const passing: Line[] =
    random.below(3) === 0 ? [{ type: 'user.message', text: fillIn(random.pick(PASSING)) }] : [];
  const all: Line[] = [
    { type: 'session.started' },
    { type: 'user.message', text: fillIn(random.pick(TASKS)) },
    { type: 'agent.prompt', agent: AGENT, prompt: fillIn(random.pick(QUESTIONS)) },
    { type: 'user.reply', agent: AGENT, reply: fillIn(random.pick(REPLIES)) },
    ...lines,
    ...passing,
    { type: 'agent.message', agent: AGENT, text: fillIn(random.pick(REPORTS)) },
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

export function textOf({ prompt, reply, text }: PersonaEvent): string {
  return prompt ?? reply ?? text ?? '';
}
