import { type Entry, type JsonFormat, type SessionEntries, textsIn } from '../format.ts';
import { asText, type JsonObject, objectOf, objectsOf } from '../json.ts';
import { personsText } from '../wrappers.ts';
import { timeOfMs } from './times.ts';

const NAME = 'cline';
/** Blocks without words of the person or the agent. */
const WORDLESS_BLOCKS = /^(thinking|redacted_thinking|image|file|document|tool_use|tool_result)$/;

/** `~/.cline/data/sessions/<id>/<id>.messages.json`: an object with the messages to and from the model. */
export const clineSession: JsonFormat = {
  name: NAME,
  title: 'Cline session (….messages.json)',
  recognises({ sessionId, messages }) {
    const [first] = objectsOf(messages);
    return typeof sessionId === 'string' && typeof first?.['ts'] === 'number' && 'role' in first;
  },
  open: () => ({ read: sessionEntriesOf }),
};

function sessionEntriesOf(record: JsonObject): SessionEntries {
  const id = `${NAME}:${asText(record['sessionId'])}`;
  const isSubagent = typeof record['agent'] === 'string' && record['agent'] !== 'lead';
  const { mode = 'user' } = objectOf(record['origin']);
  const messages = objectsOf(record['messages']);
  const entries = messages.flatMap((message): Entry[] =>
    isSubagent
      ? [{ kind: 'skipped' }]
      : entriesOf(message, `${id}:${asText(message['id'])}`, mode !== 'user'),
  );
  return { session: { id, agent: NAME }, entries };
}

function entriesOf(message: JsonObject, id: string, isProgram: boolean): Entry[] {
  const { role, content, ts } = message;
  if (role !== 'user' && role !== 'assistant') return [];
  const types = objectsOf(content).map(({ type }) => asText(type));
  if (types.length > 0 && !types.some((type) => type === 'text' || WORDLESS_BLOCKS.test(type)))
    return [{ kind: 'unread' }];
  const at = timeOfMs(ts);
  if (role === 'user') {
    const text = personsText(textsIn(content));
    return [text === '' ? { kind: 'skipped' } : { kind: 'user', id, at, text, isProgram }];
  }
  const text = textsIn(content).join('\n\n').trim();
  const said: Entry[] = text === '' ? [] : [{ kind: 'agent', id, at, text }];
  if (types.includes('tool_use')) said.push({ kind: 'working' });
  return said.length > 0 ? said : [{ kind: 'skipped' }];
}
