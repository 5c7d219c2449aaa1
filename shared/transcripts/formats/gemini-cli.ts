import type { Entry, Format, Reader, Session, SessionEntries } from '../format.ts';
import {
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseObject,
  stringOf,
  tryParseObject,
} from '../json.ts';
import { stripToolWrappers } from '../wrappers.ts';

const NAME = 'gemini-cli';
/** Line before the contents of the files that the person referenced with @. */
const FILES_HEADING = '--- Content from referenced files ---';

/**
 * `~/.gemini/tmp/<project>/chats/session-….jsonl`. The first line describes the session. Each other line is a message,
 * an updated message, or an update of the description.
 */
export const geminiCli: Format = {
  name: NAME,
  title: 'Gemini CLI chat (JSON Lines)',
  recognises(line) {
    const { sessionId, projectHash } = tryParseObject(line) ?? {};
    return typeof sessionId === 'string' && typeof projectHash === 'string';
  },
  open: () => new GeminiReader(),
};

/** `session-….json`, written before April 2026. It is indented by two spaces, so it can be read line by line too. */
export const geminiCliDocument: Format = {
  name: NAME,
  title: 'Gemini CLI chat (JSON)',
  recognises: (line) => /^ {2}"projectHash": "[^"]*",?$/.test(line),
  open: () => new DocumentReader(),
};

/** Top-level properties that describe the session. */
const DESCRIPTION_PROPERTY = /^ {2}"(sessionId|projectHash|kind)": ("[^"]*"),?$/;

class DocumentReader implements Reader {
  readonly #reader = new GeminiReader();
  readonly #description: Record<string, unknown> = {};
  /** Lines read so far of an incomplete message. */
  #message: string[] | undefined;

  read(line: string): SessionEntries | undefined {
    const [, name, value] = DESCRIPTION_PROPERTY.exec(line) ?? [];
    if (name !== undefined && value !== undefined) this.#description[name] = JSON.parse(value);
    if (line === '  "messages": [') return this.#reader.read(JSON.stringify(this.#description));
    if (line === '    {') this.#message = [];
    this.#message?.push(line);
    if (this.#message === undefined || !/^ {4}\},?$/.test(line)) return undefined;
    const message = this.#message.join('\n').replace(/,$/, '');
    this.#message = undefined;
    return this.#reader.read(message);
  }
}

class GeminiReader implements Reader {
  /** Ids of the messages read so far. A repeated message only adds tool calls. */
  readonly #seenIds = new Set<string>();
  #session: Session | undefined;
  #isSubagent = false;

  read(line: string): SessionEntries | undefined {
    const record = parseObject(line);
    const { sessionId, projectHash } = record;
    if (this.#session === undefined && typeof sessionId === 'string' && typeof projectHash === 'string') {
      this.#session = { id: `${NAME}:${sessionId}`, agent: NAME };
      this.#isSubagent = record['kind'] === 'subagent';
    }
    if (this.#session === undefined) return undefined;
    // A checkpoint repeats all earlier messages. `#entriesOf` skips the repeated ones.
    const messages = [
      record,
      ...objectsOf(record['messages']),
      ...objectsOf(objectOf(record['$set'])['messages']),
    ];
    const { id: scope } = this.#session;
    const entries = messages.flatMap((message) => this.#entriesOf(message, scope));
    if (entries.length === 0) return undefined;
    return { session: this.#session, entries: this.#isSubagent ? [{ kind: 'skipped' }] : entries };
  }

  #entriesOf(message: JsonObject, scope: string): Entry[] {
    const { id, type } = message;
    if (typeof id !== 'string' || (type !== 'user' && type !== 'gemini')) return [];
    const entries = this.#seenIds.has(id) ? [] : entriesOf(message, `${scope}:${id}`);
    this.#seenIds.add(id);
    return objectsOf(message['toolCalls']).length > 0 ? [...entries, { kind: 'working' }] : entries;
  }
}

function entriesOf({ type, timestamp, content, displayContent }: JsonObject, id: string): Entry[] {
  const at = stringOf(timestamp);
  if (type === 'gemini') {
    const text = textOfParts(content).trim();
    return text === '' ? [] : [{ kind: 'agent', id, at, text }];
  }
  const [typed = ''] = textOfParts(displayContent ?? content).split(FILES_HEADING);
  const text = stripToolWrappers(typed);
  // Commands to the CLI are not for the model.
  const isCommand = text.startsWith('/') || text.startsWith('?');
  return [text === '' || isCommand ? { kind: 'skipped' } : { kind: 'user', id, at, text }];
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
