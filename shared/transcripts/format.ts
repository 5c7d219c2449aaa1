import { createHash } from 'node:crypto';
import { masked } from '../text/secrets.ts';
import { objectsOf, textOf } from './json.ts';

/** The session that an entry belongs to. */
export interface Session {
  /** The id of the recorded session. */
  id: string;
  agent: string;
  /** The agent's folder, or something else that tells the session apart. */
  detail?: string | undefined;
}

/** Something that was said. */
interface Utterance {
  /** The id of the recorded event: the same whenever the same words are read again, and no other words'. */
  id: string;
  /** RFC 3339, as the transcript has it; undefined when it has none. */
  at: string | undefined;
  text: string;
}

/** An utterance or an event of a transcript, whatever its format. */
export type Entry =
  /** The person's words; `answers` names the question, where the transcript does. */
  | ({ kind: 'user'; answers?: string } & Utterance)
  /** The agent's words. Whether they end its turn is known from what follows. */
  | ({ kind: 'agent' } & Utterance)
  /** A question that the agent asks by a tool, and waits for. */
  | ({ kind: 'question' } & Utterance)
  /** The agent goes on by itself, or was interrupted: what it said last awaits no answer. */
  | { kind: 'working' }
  /** The agent waits for the person. */
  | { kind: 'turn-end' }
  /** A record in a person's or an agent's place that holds no words of theirs. */
  | { kind: 'skipped' };

/** The entries of one session. */
export interface Passage {
  session: Session;
  entries: Entry[];
}

/** Reads one transcript, line by line. Of a transcript that has grown it gives the same entries first. */
export interface Reader {
  /** Returns the entries that the line completes, if any. Throws for a line that is broken. */
  read(line: string): Passage | undefined;
}

/** A format of transcripts. */
export interface Format {
  /** The source of the recorded events. */
  name: string;
  /** The name that people know. */
  title: string;
  /** Reports whether a line, near the start of a file, is of this format and no other. */
  recognises(line: string): boolean;
  open(): Reader;
}

/** A short fingerprint of a text. Of its masked form, so that no id depends on a secret. */
export function digest(text: string): string {
  return createHash('sha256').update(masked(text)).digest('base64url').slice(0, 22);
}

/**
 * Ids for words that have none in their transcript: a fingerprint, and which occurrence of the same words it is. A line
 * that was broken once, and is whole the next time, shifts no other's id.
 */
export class WordIds {
  readonly #occurrences = new Map<string, number>();

  next(scope: string, kind: string, text: string): string {
    const id = `${scope}:${digest(`${kind}\n${text}`)}`;
    const occurrence = (this.#occurrences.get(id) ?? 0) + 1;
    this.#occurrences.set(id, occurrence);
    return occurrence === 1 ? id : `${id}:${occurrence}`;
  }
}

/** A question with the answers that it offers, as one text. */
export function questionText(question: string, options: unknown): string {
  const lines = objectsOf(options).flatMap(({ label, description }) => {
    const name = textOf(label);
    if (name === undefined) return [];
    const meaning = textOf(description);
    return [meaning ? `- ${name}: ${meaning}` : `- ${name}`];
  });
  return [question, ...lines].join('\n');
}
