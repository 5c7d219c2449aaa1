import type { Entry, JsonFormat, Reader, Session, SessionEntries } from '../format.ts';
import { isObject, type JsonObject, objectOf, objectsOf, stringOf } from '../json.ts';
import { stripToolWrappers } from '../wrappers.ts';

const NAME = 'gemini-cli';
/** A part has one of these. */
const PART_KEYS = [
  'text',
  'thought',
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
  'executableCode',
];
/** Line before the contents of the files that the person referenced with @. */
const FILES_HEADING = '--- Content from referenced files ---';

/**
 * `~/.gemini/tmp/<project>/chats/session-….jsonl`. The first line describes the session. Each other line is a message,
 * an updated message, or an update of the description. Before April 2026 it was `session-….json`, one object.
 */
export const geminiCli: JsonFormat = {
  name: NAME,
  title: 'Gemini CLI chat (JSON Lines or JSON)',
  recognises({ sessionId, projectHash }) {
    return typeof sessionId === 'string' && typeof projectHash === 'string';
  },
  open: () => new GeminiReader(),
};

class GeminiReader implements Reader {
  /** Ids of the messages read so far. A repeated message only adds tool calls. */
  readonly #seenIds = new Set<string>();
  #session: Session | undefined;
  #isSubagent = false;
  /** The conversation's messages, without those that were taken back. */
  #path: { id: string; utterance: string | undefined }[] = [];

  read(record: JsonObject): SessionEntries | undefined {
    const { sessionId, projectHash, $rewindTo: rewindTo } = record;
    if (this.#session === undefined && typeof sessionId === 'string' && typeof projectHash === 'string') {
      this.#session = { id: `${NAME}:${sessionId}`, agent: NAME };
      this.#isSubagent = record['kind'] === 'subagent';
    }
    if (this.#session === undefined) return undefined;
    const { id: scope } = this.#session;
    const checkpoint = objectOf(record['$set'])['messages'];
    const entries = [
      ...[record, ...objectsOf(record['messages'])].flatMap((message) => this.#entriesOf(message, scope)),
      ...(Array.isArray(checkpoint) ? this.#fromCheckpoint(objectsOf(checkpoint), scope) : []),
      ...(typeof rewindTo === 'string' ? this.#rewindTo(rewindTo) : []),
    ];
    if (entries.length === 0) return undefined;
    return { session: this.#session, entries: this.#isSubagent ? [{ kind: 'skipped' }] : entries };
  }

  /** A checkpoint has all messages that are left: most were read before, and those that it lacks are taken back. */
  #fromCheckpoint(messages: JsonObject[], scope: string): Entry[] {
    const ids = new Set(messages.map(({ id }) => id));
    const firstLacking = this.#path.findIndex(({ id }) => !ids.has(id));
    const rewind = firstLacking < 0 ? [] : this.#keep(this.#path.filter(({ id }) => ids.has(id)));
    return [...rewind, ...messages.flatMap((message) => this.#entriesOf(message, scope))];
  }

  /** Takes back the message with this id, and all after it. */
  #rewindTo(messageId: string): Entry[] {
    const place = this.#path.findIndex(({ id }) => id === messageId);
    return place < 0 ? [] : this.#keep(this.#path.slice(0, place));
  }

  #keep(path: { id: string; utterance: string | undefined }[]): Entry[] {
    const last = (messages: typeof path) =>
      messages.findLast(({ utterance }) => utterance !== undefined)?.utterance;
    const isTakenBack = last(path) !== last(this.#path);
    this.#path = path;
    return isTakenBack ? [{ kind: 'rewind', after: last(path) }] : [];
  }

  #entriesOf(message: JsonObject, scope: string): Entry[] {
    const { id, type } = message;
    if (typeof id !== 'string' || (type !== 'user' && type !== 'gemini')) return [];
    const calls: Entry[] = objectsOf(message['toolCalls']).length > 0 ? [{ kind: 'working' }] : [];
    if (this.#seenIds.has(id)) return calls;
    this.#seenIds.add(id);
    const entries = entriesOf(message, `${scope}:${id}`);
    this.#path.push({ id, utterance: entries.find((entry) => 'text' in entry)?.id });
    return [...entries, ...calls];
  }
}

function entriesOf(message: JsonObject, id: string): Entry[] {
  const { type, timestamp, content, displayContent } = message;
  const at = stringOf(timestamp);
  if (isUnknownForm(content)) return [{ kind: 'unread' }];
  if (type === 'gemini') {
    const text = textOfParts(content).trim();
    return [text === '' ? { kind: 'skipped' } : { kind: 'agent', id, at, text }];
  }
  const [typed = ''] = textOfParts(displayContent ?? content).split(FILES_HEADING);
  const text = stripToolWrappers(typed);
  // Commands to the CLI are not for the model.
  const isCommand = text.startsWith('/') || text.startsWith('?');
  return [text === '' || isCommand ? { kind: 'skipped' } : { kind: 'user', id, at, text }];
}

function isUnknownForm(content: unknown): boolean {
  if (content === undefined || content === null || typeof content === 'string') return content == null;
  const parts = Array.isArray(content) ? content : [content];
  const isKnown = (part: unknown) =>
    typeof part === 'string' || PART_KEYS.some((key) => key in objectOf(part));
  return parts.length > 0 && !parts.some(isKnown);
}

/** `content` is a text, a part, or a list of these. Leaves out thoughts, images and tool results. */
function textOfParts(content: unknown): string {
  const parts: unknown[] = Array.isArray(content) ? content : [content];
  return parts
    .map(
      (part) =>
        stringOf(part) ?? (isObject(part) && part['thought'] !== true ? stringOf(part['text']) : '') ?? '',
    )
    .join('');
}
