import { digest, type Entry, type JsonFormat, type SessionEntries } from '../format.ts';
import { type JsonObject, objectOf, objectsOf, stringOf } from '../json.ts';
import { byTime, timeIn } from './times.ts';

const NAME = 'mem0';

/**
 * Memories of mem0: what `get_all` returns (`results`), an export of them (`memories`), or of OpenMemory. A list may
 * also be the whole file, or lines. Most texts are a model's summary of what was said, so they are nobody's own words,
 * unless `role` says whose they are.
 */
export const mem0: JsonFormat = {
  name: NAME,
  title: 'mem0 memories',
  recognises(record) {
    const first = memoriesIn(record).find(hasText) ?? {};
    const { memory, content, createdAt, id, created_at: at } = first;
    if (createdAt !== undefined) return false;
    if (typeof memory === 'string') return typeof id === 'string' && at !== undefined;
    return typeof content === 'string' && (first !== record || MARKS.some((name) => name in first));
  },
  open: (at) => ({ read: (record) => sessionEntriesOf(memoriesIn(record), at) }),
};

/** Properties of a memory that stands alone in its line. */
const MARKS = ['user_id', 'agent_id', 'run_id', 'categories'];

const hasText = ({ memory, content }: JsonObject) => typeof (memory ?? content) === 'string';

function memoriesIn(record: JsonObject): JsonObject[] {
  const { results, memories } = record;
  const list = [results, memories].find(Array.isArray);
  return list === undefined ? [record] : objectsOf(list);
}

function sessionEntriesOf(memories: readonly JsonObject[], fileTime: string | undefined): SessionEntries {
  const [first = {}] = memories;
  const owner = [first['user_id'], first['run_id'], first['agent_id']].find((one) => typeof one === 'string');
  return {
    session: { id: `${NAME}:${owner ?? 'memories'}`, agent: NAME },
    entries: byTime(memories, 'created_at').flatMap((memory) => entriesOf(memory, fileTime)),
  };
}

function entriesOf(memory: JsonObject, fileTime: string | undefined): Entry[] {
  const { id, state, metadata, created_at: at } = memory;
  const role = memory['role'] ?? objectOf(metadata)['role'];
  const text = (stringOf(memory['memory']) ?? stringOf(memory['content']))?.trim();
  if (text === undefined) return [{ kind: 'unread' }];
  if (text === '' || state === 'deleted') return [{ kind: 'skipped' }];
  const name = stringOf(id) ?? digest(text);
  const utterance = { id: `${NAME}:${name}`, at: timeIn(at) ?? fileTime, text };
  return role === 'user'
    ? [{ kind: 'user', ...utterance }]
    : [{ kind: 'agent', ...utterance }, { kind: 'working' }];
}
