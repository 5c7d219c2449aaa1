import { type Entry, type JsonFormat, type SessionEntries, wordless } from '../format.ts';
import { asText, isObject, type JsonObject, objectOf, propertyOf, stringOf } from '../json.ts';
import { stripToolWrappers } from '../wrappers.ts';
import { timeIn } from './times.ts';

const NAME = 'chatgpt';
const ROLES = ['user', 'assistant'];
const TYPES = ['text', 'multimodal_text'];
const WORDLESS_TYPES = [
  ...TYPES,
  'code',
  'thoughts',
  'reasoning_recap',
  'execution_output',
  'user_editable_context',
  'model_editable_context',
  'tether_quote',
  'tether_browsing_display',
  'system_error',
  'super_widget',
];

/**
 * `conversations.json`, or `conversations-000.json` and following, of a data export of ChatGPT: an array of
 * conversations. A conversation is a tree of messages, whose branches are edited questions and repeated answers.
 */
export const chatgpt: JsonFormat = {
  name: NAME,
  title: 'ChatGPT data export (conversations.json)',
  recognises({ mapping, current_node: current }) {
    return isObject(mapping) && (typeof current === 'string' || current === null || current === undefined);
  },
  open: () => ({ read: sessionEntriesOf }),
};

function sessionEntriesOf(conversation: JsonObject): SessionEntries | undefined {
  const id = stringOf(conversation['conversation_id']) ?? stringOf(conversation['id']);
  if (id === undefined) throw new SyntaxError('a conversation without an id');
  const shown = shownBranch(objectOf(conversation['mapping']), conversation['current_node']);
  const session = {
    id: `${NAME}:${id}`,
    agent: NAME,
    detail: stringOf(conversation['title']),
    at: timeIn(conversation['create_time']),
  };
  const hidden = Object.values(objectOf(conversation['mapping'])).filter((node) => !shown.has(node));
  const skipped = hidden
    .filter((node) => ROLES.includes(roleOf(messageOf(node))))
    .map((): Entry => ({ kind: 'skipped' }));
  return {
    session,
    entries: [...skipped, ...[...shown].reverse().flatMap((node) => entriesOf(messageOf(node)))],
  };
}

/** Returns the nodes from the current one up to the root. */
function shownBranch(mapping: JsonObject, current: unknown): Set<unknown> {
  const branch = new Set<unknown>();
  let node = propertyOf(mapping, asText(current)) ?? Object.values(mapping).at(-1);
  while (isObject(node) && !branch.has(node)) {
    branch.add(node);
    node = propertyOf(mapping, asText(node['parent']));
  }
  return branch;
}

function messageOf(node: unknown): JsonObject {
  return objectOf(objectOf(node)['message']);
}

function roleOf(message: JsonObject): string {
  return asText(objectOf(message['author'])['role']);
}

function entriesOf(message: JsonObject): Entry[] {
  const role = roleOf(message);
  if (role === 'tool') return [{ kind: 'working' }];
  if (!ROLES.includes(role)) return [];
  const metadata = objectOf(message['metadata']);
  if (
    metadata['is_visually_hidden_from_conversation'] === true ||
    metadata['is_user_system_message'] === true
  )
    return [{ kind: 'skipped' }];
  return role === 'user' ? fromPerson(message) : fromAgent(message);
}

function fromPerson(message: JsonObject): Entry[] {
  const text = stripToolWrappers(textIn(message));
  return [text === '' ? withoutWords(message) : { kind: 'user', ...idAndTime(message), text }];
}

function fromAgent(message: JsonObject): Entry[] {
  const { recipient = 'all', channel, end_turn: endsTurn } = message;
  const text = textIn(message);
  if (recipient !== 'all') return [{ kind: 'working' }];
  if (text === '') return [withoutWords(message)];
  if (channel === 'analysis') return [{ kind: 'skipped' }];
  const said: Entry = { kind: 'agent', ...idAndTime(message), text };
  if (channel === 'commentary') return [said, { kind: 'working' }];
  return endsTurn === true ? [said, { kind: 'turn-end' }] : [said];
}

function withoutWords(message: JsonObject): Entry {
  return wordless([objectOf(message['content'])['content_type']], WORDLESS_TYPES);
}

/** Leaves out thoughts, code for tools, files and images. What was spoken is in the transcription. */
function textIn(message: JsonObject): string {
  const { content_type: type, parts } = objectOf(message['content']);
  if (!TYPES.includes(asText(type)) || !Array.isArray(parts)) return '';
  const texts = parts.map((part: unknown) => {
    const { content_type: kind, text } = objectOf(part);
    return stringOf(part) ?? (kind === 'audio_transcription' ? stringOf(text) : undefined) ?? '';
  });
  return texts.join('\n').trim();
}

function idAndTime({ id, create_time: at }: JsonObject) {
  return { id: `${NAME}:${asText(id)}`, at: timeIn(at) };
}
