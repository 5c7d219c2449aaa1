import { type Entry, type JsonFormat, type SessionEntries, wordless } from '../format.ts';
import { asText, type JsonObject, objectsOf, stringOf } from '../json.ts';
import { stripToolWrappers } from '../wrappers.ts';
import { timeIn } from './times.ts';

const NAME = 'claude';
const BLOCK_TYPES = [
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_result',
  'token_budget',
  'image',
];

/**
 * `conversations.json` of a data export of Claude: an array of conversations. Their messages name their parents,
 * because edited questions and repeated answers make branches; in old exports they follow one another.
 */
export const claudeExport: JsonFormat = {
  name: NAME,
  title: 'Claude data export (conversations.json)',
  recognises({ uuid, chat_messages: messages }) {
    return typeof uuid === 'string' && Array.isArray(messages);
  },
  open: () => ({ read: sessionEntriesOf }),
};

function sessionEntriesOf(conversation: JsonObject): SessionEntries {
  const messages = objectsOf(conversation['chat_messages']);
  const shown = shownBranch(messages, conversation['current_leaf_message_uuid']);
  const entries = messages.flatMap((message): Entry[] =>
    shown.has(message) ? entriesOf(message) : [{ kind: 'skipped' }],
  );
  const session = {
    id: `${NAME}:${asText(conversation['uuid'])}`,
    agent: NAME,
    detail: stringOf(conversation['name']) || undefined,
    at: timeIn(conversation['created_at']),
  };
  return { session, entries };
}

/** Returns the latest message and all before it in its branch. */
function shownBranch(messages: JsonObject[], leaf: unknown): Set<unknown> {
  if (messages.every(({ parent_message_uuid: parent }) => parent === undefined)) return new Set(messages);
  const byId = new Map(messages.map((message) => [message['uuid'], message]));
  const branch = new Set<unknown>();
  let message = byId.get(leaf) ?? messages.at(-1);
  while (message !== undefined && !branch.has(message)) {
    branch.add(message);
    message = byId.get(message['parent_message_uuid']);
  }
  return branch;
}

function entriesOf(message: JsonObject): Entry[] {
  const id = `${NAME}:${asText(message['uuid'])}`;
  const at = timeIn(message['created_at']);
  if (message['sender'] === 'human') {
    const text = stripToolWrappers(partsOf(message).join('\n\n'));
    return [text === '' ? withoutWords(message) : { kind: 'user', id, at, text }];
  }
  if (message['sender'] !== 'assistant') return [{ kind: 'unread' }];
  const parts = partsOf(message);
  const said = parts.flatMap((text, place): Entry[] => {
    const words: Entry = { kind: 'agent', id: place === 0 ? id : `${id}:${place}`, at, text };
    return place + 1 < parts.length ? [words, { kind: 'working' }] : [words];
  });
  return said.length === 0 ? [withoutWords(message)] : [...said, { kind: 'turn-end' }];
}

function withoutWords(message: JsonObject): Entry {
  return wordless(
    objectsOf(message['content']).map(({ type }) => type),
    BLOCK_TYPES,
  );
}

/** Returns the texts between the uses of tools. Files and pasted texts are attachments, not words. */
function partsOf(message: JsonObject): string[] {
  const blocks = objectsOf(message['content']);
  const parts: string[][] = [[]];
  for (const { type, text } of blocks) {
    if (type === 'tool_use' || type === 'tool_result') parts.push([]);
    else if (type === 'text' && typeof text === 'string') parts.at(-1)?.push(text);
  }
  // Old exports have no blocks.
  const texts =
    blocks.length > 0 ? parts.map((part) => part.join('\n\n')) : [stringOf(message['text']) ?? ''];
  return texts.map((text) => text.trim()).filter(Boolean);
}
