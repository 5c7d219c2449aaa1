import { AHEAD_MAX_MS, EARLIEST, momentOf } from '../domain/moment.ts';
import { EVENT_TEXT_MAX, SOURCE_DETAIL_MAX } from '../schemas/limits.ts';
import { withoutMiddle } from '../text/cut.ts';
import { masked } from '../text/secrets.ts';
import type { Entry, Session } from './format.ts';

/** A recording event, as it would be posted. */
export type ImportedEvent = Readonly<Record<string, string | undefined>> & { id: string; type: string };

type Utterance = Extract<Entry, { text: string }>;

/** A session in which nothing was said for so long has stopped. */
const IDLE_MS = 24 * 60 * 60 * 1000;

/**
 * Turns what a session's transcript says into recording events. The agent's last words of a turn await the person: they
 * are an `agent.prompt`, its others `agent.message`s. They are held back until it is certain which they are, because a
 * stored event never changes; so a transcript that has grown gives the events that it gave before, then more.
 */
export class Conversation {
  readonly #session: Session;
  readonly #source: string;
  readonly #now: number;
  #started = false;
  /** The last good time that the transcript gave. */
  #at: string | undefined;
  #lastMoment = 0;
  /** The agent's last words, as long as their kind is open. */
  #open: Utterance | undefined;
  /** The id of the prompt that awaits the person. */
  #asked: string | undefined;

  /** `now` is in milliseconds. */
  constructor(session: Session, source: string, now: number) {
    this.#session = session;
    this.#source = source;
    this.#now = now;
  }

  /** The events that the entry completes. */
  read(entry: Entry): ImportedEvent[] {
    switch (entry.kind) {
      case 'user':
        return this.#fromPerson(entry);
      case 'agent': {
        const events = this.#close('agent.message');
        this.#open = { ...entry, at: this.#timeOf(entry) };
        return events;
      }
      case 'question': {
        const events = [...this.#close('agent.message'), ...this.#event('agent.prompt', entry)];
        this.#asked = entry.id;
        return events;
      }
      case 'working':
        return this.#close('agent.message');
      case 'turn-end':
        return this.#open === undefined ? [] : this.#close('agent.prompt');
      case 'skipped':
        return [];
    }
  }

  /** The session's end, if it is over, or nothing was said for a day. */
  end(isOver = false): ImportedEvent[] {
    const isIdle = this.#lastMoment <= this.#now - IDLE_MS;
    if (!this.#started || !(isOver || isIdle)) return [];
    const id = `${this.#session.id}:stopped:${this.#lastMoment}`;
    return [this.#envelope(id, 'session.stopped', new Date(this.#lastMoment).toISOString())];
  }

  #fromPerson(entry: Extract<Entry, { kind: 'user' }>): ImportedEvent[] {
    const events = this.#open === undefined ? [] : this.#close('agent.prompt');
    const asked = entry.answers ?? this.#asked;
    this.#asked = undefined;
    const said = this.#event(asked === undefined ? 'user.message' : 'user.reply', entry, asked);
    return [...events, ...said];
  }

  /** Decides about the agent's last words. Only a prompt awaits an answer. */
  #close(type: 'agent.prompt' | 'agent.message'): ImportedEvent[] {
    const utterance = this.#open;
    this.#open = undefined;
    this.#asked = type === 'agent.prompt' ? utterance?.id : undefined;
    return utterance === undefined ? [] : this.#event(type, utterance);
  }

  #event(type: keyof typeof TEXT_FIELDS, utterance: Utterance, inReplyTo?: string): ImportedEvent[] {
    const at = this.#timeOf(utterance);
    const event = {
      ...this.#envelope(utterance.id, type, at),
      ...(type === 'user.message' ? {} : { agent: this.#session.agent }),
      ...(inReplyTo === undefined ? {} : { in_reply_to: inReplyTo }),
      [TEXT_FIELDS[type]]: storable(utterance.text),
    };
    const moment = this.#momentOf(at);
    if (moment === undefined) return [event];
    this.#lastMoment = Math.max(this.#lastMoment, moment);
    return this.#started ? [event] : [...this.#start(at), event];
  }

  /** The session starts with the first event whose time is good. */
  #start(at: string | undefined): ImportedEvent[] {
    this.#started = true;
    const { id, detail } = this.#session;
    const started = this.#envelope(`${id}:started`, 'session.started', at);
    return [{ ...started, source_detail: detail && withoutMiddle(storable(detail), SOURCE_DETAIL_MAX) }];
  }

  #envelope(id: string, type: string, at: string | undefined) {
    return { id, session_id: this.#session.id, type, source: this.#source, occurred_at: at };
  }

  /** The entry's time, else the last good one. */
  #timeOf({ at }: Utterance): string | undefined {
    if (this.#momentOf(at) !== undefined) this.#at = at;
    return at ?? this.#at;
  }

  /** The moment, in milliseconds, if an event may have it. */
  #momentOf(at: string | undefined): number | undefined {
    const moment = at === undefined ? undefined : momentOf(at);
    return moment !== undefined && moment >= EARLIEST && moment <= this.#now + AHEAD_MAX_MS
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

/** A text as it may be stored: no credentials, no NUL or lone surrogate, cut to what an event holds. */
function storable(text: string): string {
  return withoutMiddle(masked(text).replaceAll('\0', '').toWellFormed(), EVENT_TEXT_MAX);
}
