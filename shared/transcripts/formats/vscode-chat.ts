import {
  type Entry,
  type JsonFormat,
  questionText,
  type Reader,
  type Session,
  type SessionEntries,
} from '../format.ts';
import {
  asText,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  objectsOf,
  propertyOf,
  stringOf,
} from '../json.ts';
import { stripToolWrappers } from '../wrappers.ts';
import { timeOfMs } from './times.ts';
import { type Chat, changedChat, chatOf } from './vscode-log.ts';

const NAME = 'vscode-chat';
/** Rest of a code block whose code went into a file. */
const EMPTY_CODE_BLOCK = /(^|\n)```\s*```(?=\n|$)/g;
const COMMAND = /^\/\S+$/;
/** Beginnings of the kinds of an answer's parts that are known, and have no words. */
const WORDLESS_KIND =
  /^(?:tool|prepareTool|progress|thinking|textEdit|notebookEdit|undo|codeblock|confirmation|elicitation|mcp|warning|command|references)/;

/**
 * `workspaceStorage/<workspace>/chatSessions/<session>.json` of Visual Studio Code, what "Chat: Export Chat…" writes,
 * and the present `<session>.jsonl`: the same object, then a line for each change to it.
 */
export const vscodeChat: JsonFormat = {
  name: NAME,
  title: 'VS Code chat session (chatSessions)',
  recognises(record) {
    const { requests, responderUsername } = record['kind'] === 0 ? objectOf(record['v']) : record;
    return Array.isArray(requests) && typeof responderUsername === 'string';
  },
  open: () => new ChatReader(),
};

class ChatReader implements Reader {
  readonly #settled = new Set<unknown>();
  /** Id of the latest settled request. */
  #latest: unknown;
  #chat: Chat | undefined;

  /** A request is settled once another follows. */
  read(record: JsonObject): SessionEntries | undefined {
    this.#chat = 'kind' in record ? changedChat(this.#chat, record) : chatOf(record);
    return this.#settle(this.#chat.requests.slice(0, -1));
  }

  end(): SessionEntries | undefined {
    return this.#settle(this.#chat?.requests ?? []);
  }

  #settle(requests: JsonObject[]): SessionEntries | undefined {
    const entries = requests.flatMap((request, place): Entry[] => {
      const { requestId } = request;
      if (this.#settled.has(requestId)) return [];
      const before = requests[place - 1];
      const isAfterLatest = this.#settled.size === 0 || before?.['requestId'] === this.#latest;
      this.#settled.add(requestId);
      this.#latest = requestId;
      // Requests that the person took back are gone from the chat.
      return [
        ...(isAfterLatest ? [] : [{ kind: 'rewind' as const, after: before && lastIdOf(before) }]),
        ...entriesOf(request),
      ];
    });
    const session = this.#session();
    return session && entries.length > 0 ? { session, entries } : undefined;
  }

  #session(): Session | undefined {
    const id = this.#chat?.sessionId ?? this.#chat?.requests[0]?.['requestId'];
    const agent = (stringOf(this.#chat?.responderUsername) || 'agent')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-');
    if (typeof id !== 'string') return undefined;
    return { id: `${NAME}:${id}`, agent, detail: stringOf(this.#chat?.customTitle) };
  }
}

function entriesOf(request: JsonObject): Entry[] {
  return [fromPerson(request), ...fromAgent(request)];
}

function fromPerson(request: JsonObject): Entry {
  const { message, timestamp, confirmation } = request;
  const written = stringOf(message) ?? stringOf(objectOf(message)['text']);
  if (written === undefined) return { kind: 'unread' };
  const text = stripToolWrappers(written);
  const isPersons = typeof confirmation !== 'string' && !isHidden(request) && !COMMAND.test(text);
  if (text === '' || !isPersons) return { kind: 'skipped' };
  return { kind: 'user', id: idOf(request), at: timeOfMs(timestamp), text };
}

function isHidden(request: JsonObject): boolean {
  const flags = ['isHidden', 'isSystemInitiated', 'hiddenFromTranscript', 'requestHiddenFromTranscript'];
  return flags.some((flag) => request[flag] === true) || isObject(request['shouldBeRemovedOnSend']);
}

/** The words between two uses of tools are one utterance. The last one has the time at which the answer was complete. */
function fromAgent(request: JsonObject): Entry[] {
  if (isHidden(request)) return [];
  const entries = runsOf(request).flatMap((run, place): Entry[] => {
    const id = `${idOf(request)}:${place}`;
    const at = timeOfMs(request['timestamp']);
    if (typeof run !== 'string') return fromQuestions(run, id, at);
    const text = run.replaceAll(EMPTY_CODE_BLOCK, '$1').trim();
    return text === '' ? [{ kind: 'working' }] : [{ kind: 'agent', id, at, text }, { kind: 'working' }];
  });
  const last = entries.findLastIndex(({ kind }) => kind === 'agent' || kind === 'question');
  const said = entries[last];
  if (said === undefined && isUnknown(request)) return [{ kind: 'unread' }];
  if (said?.kind !== 'agent') return entries;
  const at = timeOfMs(objectOf(request['modelState'])['completedAt']) ?? said.at;
  return [...entries.slice(0, last), { ...said, at }, { kind: 'turn-end' }];
}

function isUnknown({ response }: JsonObject): boolean {
  const kinds = objectsOf(response).map(({ kind }) => kind);
  return kinds.length > 0 && kinds.every((kind) => kind !== undefined && !WORDLESS_KIND.test(asText(kind)));
}

/** Joins the pieces of text. Returns the questions between them as they are. */
function runsOf(request: JsonObject): (string | JsonObject)[] {
  const runs: (string | JsonObject)[] = [''];
  for (const part of objectsOf(request['response'])) {
    const piece = textOf(part);
    const run = runs.at(-1);
    if (piece !== '' && typeof run === 'string') runs[runs.length - 1] = run + piece;
    else if (piece !== '') runs.push(piece);
    if (part['kind'] === 'questionCarousel') runs.push(part, '');
    else if (part['kind'] === 'toolInvocationSerialized' && run !== '') runs.push('');
  }
  return runs;
}

function textOf(part: JsonObject): string {
  const { kind, value, content, name, inlineReference } = part;
  if (kind === undefined) return stringOf(value) ?? '';
  if (kind === 'markdownContent' || kind === 'markdownVuln')
    return stringOf(objectOf(content)['value']) ?? '';
  if (kind !== 'inlineReference') return '';
  const { path, uri, name: symbol } = objectOf(inlineReference);
  const file = stringOf(path) ?? stringOf(objectOf(uri)['path']) ?? '';
  const label = stringOf(name) ?? stringOf(symbol) ?? file.slice(file.lastIndexOf('/') + 1);
  return label === '' ? '' : `\`${label}\``;
}

function fromQuestions({ questions, data }: JsonObject, scope: string, at: string | undefined): Entry[] {
  return objectsOf(questions).flatMap(({ id, title, message, options }): Entry[] => {
    const asked = `${scope}:${asText(id)}`;
    const question = stringOf(message) ?? stringOf(objectOf(message)['value']) ?? asText(title);
    const text = answerIn(propertyOf(data, asText(id)), objectsOf(options));
    const prompt: Entry = { kind: 'question', id: asked, at, text: questionText(question, options) };
    return text === ''
      ? [prompt]
      : [prompt, { kind: 'user', id: `${asked}:answer`, at, text, answers: asked }];
  });
}

/** An answer is a text, or has the values of the chosen options and what the person wrote. */
function answerIn(answer: unknown, options: JsonObject[]): string {
  const { selectedValue, selectedValues, freeformValue } = objectOf(answer);
  const chosen = Array.isArray(selectedValues) ? listOf(selectedValues) : [selectedValue];
  const labels = chosen.map(
    (value) => options.find((option) => option['value'] === value)?.['label'] ?? value,
  );
  return [answer, ...labels, freeformValue].filter((one) => typeof one === 'string' && one !== '').join('\n');
}

function idOf({ requestId }: JsonObject): string {
  return `${NAME}:${asText(requestId)}`;
}

/** Returns the id of the last words of the agent's answer. */
function lastIdOf(request: JsonObject): string | undefined {
  const said = entriesOf(request).findLast(({ kind }) => kind === 'agent' || kind === 'question');
  return said && 'id' in said ? said.id : undefined;
}
