import type { Entry, JsonFormat, SessionEntries } from '../format.ts';
import { asText, type JsonObject, objectOf, objectsOf, stringOf } from '../json.ts';
import { personsText } from '../wrappers.ts';

const NAME = 'qwen-code';

/** `~/.qwen/projects/<project>/chats/<session>.jsonl`: records like Claude Code's, with messages like Gemini CLI's. */
export const qwenCode: JsonFormat = {
  name: NAME,
  title: 'Qwen Code chat (JSON Lines)',
  recognises({ sessionId, uuid, message }) {
    const hasParts = Array.isArray(objectOf(message)['parts']);
    return typeof sessionId === 'string' && typeof uuid === 'string' && hasParts;
  },
  open: () => ({ read: sessionEntriesOf }),
};

function sessionEntriesOf(record: JsonObject): SessionEntries | undefined {
  const sessionId = stringOf(record['sessionId']);
  const entries = entriesOf(record);
  if (sessionId === undefined || entries.length === 0) return undefined;
  const session = { id: `${NAME}:${sessionId}`, agent: NAME, detail: stringOf(record['cwd']) };
  return { session, entries };
}

function entriesOf(record: JsonObject): Entry[] {
  const { type, subtype, uuid, timestamp, message } = record;
  if (type === 'tool_result') return [{ kind: 'skipped' }];
  if (type !== 'user' && type !== 'assistant') return [];
  // Otherwise it is a notification, a scheduled prompt, or what drives the agent to its goal.
  const isSaid = subtype === undefined || subtype === 'mid_turn_user_message';
  if (!isSaid || record['isSidechain'] === true || record['isMeta'] === true) return [{ kind: 'skipped' }];
  const parts = objectsOf(objectOf(message)['parts']);
  if (parts.length > 0 && !parts.some((part) => PART_KEYS.some((key) => key in part)))
    return [{ kind: 'unread' }];
  const words = parts.flatMap(({ text, thought }) =>
    typeof text === 'string' && thought !== true ? [text] : [],
  );
  const utterance = { id: `${NAME}:${asText(uuid)}`, at: stringOf(timestamp) };
  if (type === 'user') {
    // What the person typed, without the files and the hooks' texts that the model gets too.
    const typed = stringOf(objectOf(record['systemPayload'])['displayText']);
    const text = personsText(typed === undefined ? words : [typed]);
    return [text === '' ? { kind: 'skipped' } : { kind: 'user', ...utterance, text }];
  }
  const text = words.join('').trim();
  const said: Entry[] = text === '' ? [] : [{ kind: 'agent', ...utterance, text }];
  if (parts.some((part) => 'functionCall' in part)) said.push({ kind: 'working' });
  return said.length > 0 ? said : [{ kind: 'skipped' }];
}

/** A known part has one of these. */
const PART_KEYS = ['text', 'thought', 'functionCall', 'functionResponse', 'inlineData', 'fileData'];
