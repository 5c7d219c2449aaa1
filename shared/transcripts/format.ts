import { createHash } from 'node:crypto';
import { maskSecrets } from '../text/secrets.ts';
import { objectsOf, textOf } from './json.ts';

/** The session that an entry belongs to. */
export interface Session {
  /** The id of the recorded session. */
  id: string;
  agent: string;
  /** The agent's working folder, or something else by which people recognise the session. */
  detail?: string | undefined;
}

/** Something that was said. */
interface Utterance {
  /** The id of the recorded event. Words have the same id each time they are read, and other words never have it. */
  id: string;
  /** RFC 3339, as the transcript has it; undefined when it has none. */
  at: string | undefined;
  text: string;
}

/** An utterance or an event of a transcript, whatever its format. */
export type Entry =
  /** The person's words; `answers` names the question, where the transcript does. */
  | ({ kind: 'user'; answers?: string } & Utterance)
  /** The agent's words. Later entries show whether they end its turn. */
  | ({ kind: 'agent' } & Utterance)
  /** A question that the agent asks by a tool, and whose answer it waits for. */
  | ({ kind: 'question' } & Utterance)
  /** The agent goes on by itself, or was interrupted: its last words await no answer. */
  | { kind: 'working' }
  /** The agent waits for the person. */
  | { kind: 'turn-end' }
  /** A message that holds no words of the person or the agent. It is only counted. */
  | { kind: 'skipped' };

/** Entries of one session. */
export interface Passage {
  session: Session;
  entries: Entry[];
}

/** Reads one transcript, line by line. A transcript that has grown yields the same entries as before, then more. */
export interface Reader {
  /** Returns the entries that the line completes, if any. Throws for a line that is broken. */
  read(line: string): Passage | undefined;
}

/** A transcript format. */
export interface Format {
  /** The `source` of the recorded events. */
  name: string;
  /** A name for people. */
  title: string;
  /** Reports whether a line, near the start of a file, is of this format and no other. */
  recognises(line: string): boolean;
  open(): Reader;
}

/** Returns a short fingerprint of a text's masked form, so that no id depends on a secret. */
export function digest(text: string): string {
  return createHash('sha256').update(maskSecrets(text)).digest('base64url').slice(0, 22);
}

/**
 * Makes ids for words that have none in their transcript: a fingerprint, and the number of the occurrence of these
 * words. A line that was broken at one reading and is whole at the next does not shift the ids of other words.
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

/** Returns a question and the answers that it offers as one text. */
export function questionText(question: string, options: unknown): string {
  const lines = objectsOf(options).flatMap(({ label, description }) => {
    const name = textOf(label);
    if (name === undefined) return [];
    const meaning = textOf(description);
    return [meaning ? `- ${name}: ${meaning}` : `- ${name}`];
  });
  return [question, ...lines].join('\n');
}
