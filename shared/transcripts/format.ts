import { createHash } from 'node:crypto';
import { maskSecrets } from '../text/secrets.ts';
import { type JsonObject, listOf, objectOf, objectsOf, stringOf } from './json.ts';
import type { AskedPermission } from './permission.ts';

export interface Session {
  /** Id of the recorded session. */
  id: string;
  agent: string;
  /** The agent's working folder, or something else by which people recognise the session. */
  detail?: string | undefined;
  /** Address or name of the repository, if the transcript has it. */
  repository?: string | undefined;
  /** Time in RFC 3339 of what comes without a time before the first that has one. */
  at?: string | undefined;
}

export interface Utterance {
  /** Id of the recorded event. It is unique, and the same whenever the transcript is read again. */
  id: string;
  /** Time in RFC 3339, as in the transcript; undefined if the transcript has none. */
  at: string | undefined;
  text: string;
}

/** An utterance or an event of a transcript, in a form common to all formats. */
export type Entry =
  /**
   * The person's words. `answers` is the id of the question, if the transcript names it. `isProgram` is true for the
   * words of a program that drives the agent: they are recorded, but not as a person's.
   */
  | ({ kind: 'user'; answers?: string | undefined; isProgram?: boolean } & Utterance)
  /** The agent's words. Later entries show whether these words end the agent's turn. */
  | ({ kind: 'agent' } & Utterance)
  /** A question that the agent asks with a tool. The agent waits for the answer. */
  | ({ kind: 'question' } & Utterance)
  /** A prompt that the agent wrote for another agent. */
  | { kind: 'delegated'; prompt: string }
  /** The agent continues by itself, or was interrupted: its last words do not wait for an answer. */
  | { kind: 'working' }
  /** The agent waits for the person. */
  | { kind: 'turn-end' }
  /** What the person allowed or refused by hand. */
  | ({
      kind: 'permission';
      id: string;
      at: string | undefined;
      cwd: string;
      isAllowed: boolean;
    } & AskedPermission)
  /** Takes back what was said after the utterance with this id; everything, if undefined. */
  | { kind: 'rewind'; after: string | undefined }
  /** A message without words of the person or the agent, such as a tool's output. It is only counted. */
  | { kind: 'skipped' }
  /** A message of the person or the agent in a form that the reader does not know. It is counted, and a problem. */
  | { kind: 'unread' };

export interface SessionEntries {
  session: Session;
  entries: Entry[];
}

/**
 * Reads one transcript, record by record: a line, an element of the JSON array that takes the whole file, or the JSON
 * object that does. A file that has grown yields the same entries as before, then more.
 */
export interface Reader<FileRecord = JsonObject> {
  /** Returns the entries that the record completes, if any. Throws if the record is broken. */
  read(record: FileRecord): SessionEntries | undefined;
  /** Returns the entries that are held back because more lines may change them. They count once the session is over. */
  end?(): SessionEntries | undefined;
}

interface FormatOf<FileRecord> {
  /** The `source` of the recorded events. */
  name: string;
  /** Name that users see. */
  title: string;
  /** Reports whether a record near the start of a file has this format and no other. */
  recognises(record: FileRecord): boolean;
  /** True if its tool writes the whole file again when a session grows. */
  isRewritten?: boolean;
  /** `at` is the RFC 3339 time of the session's beginning, or else of the file's last change: for files without times. */
  open(at: string | undefined): Reader<FileRecord>;
}

/** A format whose records are JSON objects. */
export interface JsonFormat extends FormatOf<JsonObject> {
  isText?: false;
}

/** A format whose records are lines of text. */
export interface TextFormat extends FormatOf<string> {
  isText: true;
}

export type Format = JsonFormat | TextFormat;

/** Hashes the text with its secrets masked, so that no id depends on a secret. */
export function digest(text: string): string {
  return createHash('sha256').update(maskSecrets(text)).digest('base64url').slice(0, 22);
}

/**
 * Makes ids for utterances that have none in their transcript. An id contains a hash of the words and, for repeated
 * words, the number of the repetition. So few other ids change when a broken line becomes readable.
 */
export class UtteranceIds {
  readonly #occurrences = new Map<string, number>();

  next(scope: string, kind: string, text: string): string {
    const id = `${scope}:${digest(`${kind}\n${text}`)}`;
    const occurrence = (this.#occurrences.get(id) ?? 0) + 1;
    this.#occurrences.set(id, occurrence);
    return occurrence === 1 ? id : `${id}:${occurrence}`;
  }
}

/** An option is a label, or an object with a label and maybe a description. */
export function questionText(question: string, options: unknown): string {
  const lines = listOf(options).flatMap((option) => {
    const { label = option, description } = objectOf(option);
    const name = stringOf(label);
    if (name === undefined) return [];
    const meaning = stringOf(description);
    return [meaning ? `- ${name}: ${meaning}` : `- ${name}`];
  });
  return [question, ...lines].join('\n');
}

/** `content` is a text or a list of blocks. */
export function textsIn(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  return objectsOf(content).flatMap(({ type, text }) => (type === 'text' ? (stringOf(text) ?? []) : []));
}

/** Counts a message without words: as skipped if such a message is known to have parts of all these types. */
export function wordless(types: readonly unknown[], known: readonly unknown[]): Entry {
  return { kind: types.every((type) => known.includes(type)) ? 'skipped' : 'unread' };
}
