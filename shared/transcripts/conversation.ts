import { CLOCK_AHEAD_MAX_MS, EARLIEST_TIME_MS, parseTimestamp } from '../domain/moment.ts';
import { EVENT_TEXT_MAX, SOURCE_DETAIL_MAX } from '../schemas/limits.ts';
import { truncateMiddle } from '../text/cut.ts';
import { maskSecrets } from '../text/secrets.ts';
import type { Entry, Session } from './format.ts';

/** An event as clients post it. */
export type ImportedEvent = Readonly<Record<string, string | undefined>> & { id: string; type: string };

type Utterance = Extract<Entry, { text: string }>;

/** Time without an event after which a session counts as stopped. */
const IDLE_MS = 24 * 60 * 60 * 1000;

/**
 * Turns the entries of a session into events. The last words of an agent's turn become an `agent.prompt`, because they
 * wait for an answer. The agent's other words become `agent.message`s. A stored event never changes, so the agent's
 * latest words are held back until their type is certain. A transcript that has grown thus yields the same events, then
 * more.
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

  /** `now` is in Unix milliseconds. */
  constructor(session: Session, source: string, now: number) {
    this.#session = session;
    this.#source = source;
    this.#now = now;
  }

  read(entry: Entry): ImportedEvent[] {
    switch (entry.kind) {
      case 'user':
        return this.#fromPerson(entry);
      case 'agent': {
        const events = this.#emitUndecided('agent.message');
        this.#undecided = { ...entry, at: this.#timeOf(entry) };
        return events;
      }
      case 'question': {
        const events = [...this.#emitUndecided('agent.message'), ...this.#event('agent.prompt', entry)];
        this.#promptId = entry.id;
        return events;
      }
      case 'working':
        return this.#emitUndecided('agent.message');
      case 'turn-end':
        return this.#undecided === undefined ? [] : this.#emitUndecided('agent.prompt');
      case 'skipped':
        return [];
    }
  }

  /** Returns a `session.stopped` event if the session is over or had no event for a day. */
  end(isOver = false): ImportedEvent[] {
    const isIdle = this.#lastTimeMs <= this.#now - IDLE_MS;
    if (!this.#hasStarted || !(isOver || isIdle)) return [];
    const id = `${this.#session.id}:stopped:${this.#lastTimeMs}`;
    return [this.#envelope(id, 'session.stopped', new Date(this.#lastTimeMs).toISOString())];
  }

  #fromPerson(entry: Extract<Entry, { kind: 'user' }>): ImportedEvent[] {
    const events = this.#undecided === undefined ? [] : this.#emitUndecided('agent.prompt');
    const promptId = entry.answers ?? this.#promptId;
    this.#promptId = undefined;
    const said = this.#event(promptId === undefined ? 'user.message' : 'user.reply', entry, promptId);
    return [...events, ...said];
  }

  /** Returns the undecided words as an event of this type. Only a prompt can be answered. */
  #emitUndecided(type: 'agent.prompt' | 'agent.message'): ImportedEvent[] {
    const utterance = this.#undecided;
    this.#undecided = undefined;
    this.#promptId = type === 'agent.prompt' ? utterance?.id : undefined;
    return utterance === undefined ? [] : this.#event(type, utterance);
  }

  #event(type: keyof typeof TEXT_FIELDS, utterance: Utterance, inReplyTo?: string): ImportedEvent[] {
    const at = this.#timeOf(utterance);
    const event = {
      ...this.#envelope(utterance.id, type, at),
      ...(type === 'user.message' ? {} : { agent: this.#session.agent }),
      ...(inReplyTo === undefined ? {} : { in_reply_to: inReplyTo }),
      [TEXT_FIELDS[type]]: storableText(utterance.text),
    };
    const moment = this.#validTimeMs(at);
    if (moment === undefined) return [event];
    this.#lastTimeMs = Math.max(this.#lastTimeMs, moment);
    return this.#hasStarted ? [event] : [...this.#start(at), event];
  }

  /** `at` is the first valid time in the session. */
  #start(at: string | undefined): ImportedEvent[] {
    this.#hasStarted = true;
    const { id, detail } = this.#session;
    const started = this.#envelope(`${id}:started`, 'session.started', at);
    return [{ ...started, source_detail: detail && truncateMiddle(storableText(detail), SOURCE_DETAIL_MAX) }];
  }

  #envelope(id: string, type: string, at: string | undefined) {
    return { id, session_id: this.#session.id, type, source: this.#source, occurred_at: at };
  }

  /** Returns the session's last valid time if the utterance has no time. */
  #timeOf({ at }: Utterance): string | undefined {
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

function storableText(text: string): string {
  return truncateMiddle(maskSecrets(text).replaceAll('\0', '').toWellFormed(), EVENT_TEXT_MAX);
}
