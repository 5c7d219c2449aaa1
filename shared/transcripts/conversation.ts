import { projectOf } from '../domain/project.ts';
import { EVENT_TEXT_MAX, SOURCE_DETAIL_MAX } from '../schemas/limits.ts';
import { CLOCK_AHEAD_MAX_MS, EARLIEST_TIME_MS, parseTimestamp } from '../schemas/moment.ts';
import { truncateMiddle } from '../text/cut.ts';
import { maskSecrets } from '../text/secrets.ts';
import type { Entry, Session, Utterance } from './format.ts';

/** An event as clients post it. */
export type ImportedEvent = Readonly<Record<string, string | undefined>> & { id: string; type: string };

/** Time without an event after which a session counts as stopped. */
const IDLE_MS = 24 * 60 * 60 * 1000;

/** A person who pastes a text of at least this length, in UTF-16 units, hardly repeats it by chance. */
const PASTED_LENGTH_MIN = 100;
/** Number of the agent's latest texts in which a pasted one is looked for. */
const AGENT_TEXTS_MAX = 50;

/** The `agent` of a program's words, which no person wrote. */
const PROGRAM = 'program';

/**
 * Turns the entries of a session into events. The last words of an agent's turn become an `agent.prompt`, because they
 * wait for an answer. The agent's other words become `agent.message`s. A stored event never changes, so the agent's
 * latest words are held back until their type is certain, or the session is over. A transcript that has grown thus
 * yields the same events, then more.
 */
export class Conversation {
  readonly #session: Session;
  readonly #source: string;
  readonly #now: number;
  #hasStarted = false;
  /** The last valid time in the transcript. */
  #at: string | undefined;
  #lastTimeMs = 0;
  /** The agent's latest words, while it is uncertain whether they are a prompt or a message. */
  #undecided: Utterance | undefined;
  /** Id of the prompt that waits for the person's answer. */
  #promptId: string | undefined;
  /** The agent's latest texts, as `foldSpace` returns them. */
  readonly #agentTexts: string[] = [];
  /** Ids of all prompts: the conversation may go back to one of them. */
  readonly #promptIds = new Set<string>();

  /** `now` is in Unix milliseconds. */
  constructor(session: Session, source: string, now: number) {
    this.#session = session;
    this.#source = source;
    this.#now = now;
    this.#timeOf({ at: session.at });
  }

  read(entry: Entry): ImportedEvent[] {
    switch (entry.kind) {
      case 'user':
        return this.#fromPerson(entry);
      case 'delegated':
        this.#keepAgentText(entry.prompt);
        return [];
      case 'agent': {
        this.#keepAgentText(entry.text);
        const events = this.#emitUndecided('agent.message');
        this.#undecided = { ...entry, at: this.#timeOf(entry) };
        return events;
      }
      case 'question': {
        const events = [...this.#emitUndecided('agent.message'), ...this.#event('agent.prompt', entry)];
        this.#waitForAnswer(entry.id);
        return events;
      }
      case 'rewind':
        return this.#rewind(entry.after);
      case 'permission':
        return this.#permission(entry);
      case 'working':
        return this.#emitUndecided('agent.message');
      case 'turn-end':
        return this.#undecided === undefined ? [] : this.#emitUndecided('agent.prompt');
      case 'skipped':
      case 'unread':
        return [];
    }
  }

  /** True if it is uncertain whether the agent's latest words await an answer. */
  get isUndecided(): boolean {
    return this.#undecided !== undefined;
  }

  /** Reports whether nothing was said for a day, also counting entries that were not read yet, and a change of the file. */
  isIdle(unread: readonly Entry[], changedMs: number): boolean {
    const held = [...unread, this.#undecided ?? { kind: 'skipped' }];
    const times = held.map((entry) => ('at' in entry ? (this.#validTimeMs(entry.at) ?? 0) : 0));
    return Math.max(this.#lastTimeMs, changedMs, ...times) <= this.#now - IDLE_MS;
  }

  /** Ends a session that is over: returns the agent's last words, and `session.stopped`. */
  end(): ImportedEvent[] {
    const lastWords = this.#undecided === undefined ? [] : this.#emitUndecided('agent.prompt');
    if (!this.#hasStarted) return lastWords;
    const id = `${this.#session.id}:stopped:${this.#lastTimeMs}`;
    return [...lastWords, this.#envelope(id, 'session.stopped', new Date(this.#lastTimeMs).toISOString())];
  }

  #fromPerson(entry: Extract<Entry, { kind: 'user' }>): ImportedEvent[] {
    const events = this.#undecided === undefined ? [] : this.#emitUndecided('agent.prompt');
    const promptId = entry.answers ?? this.#promptId;
    this.#promptId = undefined;
    if (entry.isProgram) return [...events, ...this.#event('agent.message', entry, { agent: PROGRAM })];
    const author = this.#isPasted(entry.text) ? { origin: 'agent' } : {};
    const said =
      promptId === undefined
        ? this.#event('user.message', entry, author)
        : this.#event('user.reply', entry, {
            agent: this.#session.agent,
            in_reply_to: promptId,
            ...author,
          });
    return [...events, ...said];
  }

  #keepAgentText(text: string): void {
    this.#agentTexts.push(foldSpace(text));
    if (this.#agentTexts.length > AGENT_TEXTS_MAX) this.#agentTexts.shift();
  }

  /** Reports whether the person sent what the agent wrote, such as a prompt for another agent. */
  #isPasted(text: string): boolean {
    const folded = foldSpace(text);
    return folded.length >= PASTED_LENGTH_MIN && this.#agentTexts.some((one) => one.includes(folded));
  }

  #permission({
    id,
    at,
    cwd,
    tool,
    action,
    target,
    isAllowed,
  }: Extract<Entry, { kind: 'permission' }>): ImportedEvent[] {
    const project = this.#session.detail ?? cwd;
    const what = { agent: this.#session.agent, tool, action, target: storableText(target), cwd, project };
    const event = this.#envelope(id, 'agent.permission', this.#timeOf({ at }));
    return this.#begun({ ...event, ...what, outcome: isAllowed ? 'allowed' : 'refused' });
  }

  /** Goes on after an earlier utterance. What was said since is taken back: none of it awaits an answer. */
  #rewind(after: string | undefined): ImportedEvent[] {
    const events = this.#undecided === undefined ? [] : this.#emitUndecided('agent.prompt');
    this.#promptId = after !== undefined && this.#promptIds.has(after) ? after : undefined;
    return events;
  }

  #waitForAnswer(promptId: string): void {
    this.#promptId = promptId;
    this.#promptIds.add(promptId);
  }

  /** Returns the undecided words as an event of this type. Only a prompt can be answered. */
  #emitUndecided(type: 'agent.prompt' | 'agent.message'): ImportedEvent[] {
    const utterance = this.#undecided;
    this.#undecided = undefined;
    this.#promptId = undefined;
    if (utterance === undefined) return [];
    if (type === 'agent.prompt') this.#waitForAnswer(utterance.id);
    return this.#event(type, utterance);
  }

  #event(
    type: keyof typeof TEXT_FIELDS,
    utterance: Utterance,
    more: { agent?: string; in_reply_to?: string; origin?: string } = type === 'user.message'
      ? {}
      : { agent: this.#session.agent },
  ): ImportedEvent[] {
    return this.#begun({
      ...this.#envelope(utterance.id, type, this.#timeOf(utterance)),
      ...more,
      [TEXT_FIELDS[type]]: storableText(utterance.text),
    });
  }

  /** Returns the event, after that of the session's start if it is the first. */
  #begun(event: ImportedEvent & { occurred_at: string | undefined }): ImportedEvent[] {
    const moment = this.#validTimeMs(event.occurred_at);
    if (moment === undefined) return [event];
    this.#lastTimeMs = Math.max(this.#lastTimeMs, moment);
    return this.#hasStarted ? [event] : [...this.#start(event.occurred_at), event];
  }

  /** `at` is the first valid time in the session. */
  #start(at: string | undefined): ImportedEvent[] {
    this.#hasStarted = true;
    const { id, detail, repository } = this.#session;
    const started = this.#envelope(`${id}:started`, 'session.started', at);
    const place = { source_detail: detail && truncateMiddle(storableText(detail), SOURCE_DETAIL_MAX) };
    const project = repository && projectOf(storableText(repository));
    return [{ ...started, ...place, ...(project && { project }) }];
  }

  #envelope(id: string, type: string, at: string | undefined) {
    return { id, session_id: this.#session.id, type, source: this.#source, occurred_at: at };
  }

  /** Returns the session's last valid time if the utterance has no time. */
  #timeOf({ at }: Pick<Utterance, 'at'>): string | undefined {
    if (this.#validTimeMs(at) !== undefined) this.#at = at;
    return at ?? this.#at;
  }

  /** Returns Unix milliseconds; undefined if no event may have this time. */
  #validTimeMs(at: string | undefined): number | undefined {
    const moment = at === undefined ? undefined : parseTimestamp(at);
    return moment !== undefined && moment >= EARLIEST_TIME_MS && moment <= this.#now + CLOCK_AHEAD_MAX_MS
      ? moment
      : undefined;
  }
}

const TEXT_FIELDS = {
  'agent.prompt': 'prompt',
  'agent.message': 'text',
  'user.reply': 'reply',
  'user.message': 'text',
} as const;

const foldSpace = (text: string) => text.replace(/\s+/gu, ' ').trim();

function storableText(text: string): string {
  return truncateMiddle(maskSecrets(text).replaceAll('\0', '').toWellFormed(), EVENT_TEXT_MAX);
}
