import {
  type Entry,
  type JsonFormat,
  type SessionEntries,
  textsIn,
  UtteranceIds,
  wordless,
} from '../format.ts';
import { asText, type JsonObject, objectOf, objectsOf, stringOf, tryParseObject } from '../json.ts';
import type { Line } from '../records.ts';
import { stripToolWrappers } from '../wrappers.ts';

const NAME = 'continue';
/** Name of the file beside the sessions that says when each of them began. */
export const SESSION_LIST = 'sessions.json';

/**
 * `~/.continue/sessions/<session>.json` of Continue's command line and editors: an object with the whole conversation.
 * Its messages have neither times nor, in every version, ids.
 */
export const continueSession: JsonFormat = {
  name: NAME,
  title: 'Continue session (JSON)',
  isRewritten: true,
  recognises({ sessionId, workspaceDirectory, history, sessionType }) {
    // Kiro's sessions are alike, but lack the agent's words.
    const isContinues = typeof workspaceDirectory === 'string' && sessionType === undefined;
    return isContinues && typeof sessionId === 'string' && 'message' in (objectsOf(history)[0] ?? {});
  },
  open: (at) => ({ read: (record) => sessionEntriesOf(record, at) }),
};

/** Returns when the session in the file began, in Unix milliseconds, if the records of the list say so. */
export async function startIn(list: AsyncIterable<Line>, file: string): Promise<number | undefined> {
  for await (const { text = '' } of list) {
    const { sessionId, dateCreated } = tryParseObject(text) ?? {};
    if (`${asText(sessionId)}.json` === file) return Number(asText(dateCreated)) || undefined;
  }
  return undefined;
}

function sessionEntriesOf(record: JsonObject, at: string | undefined): SessionEntries {
  const id = `${NAME}:${asText(record['sessionId'])}`;
  const ids = new UtteranceIds();
  const entries = objectsOf(record['history']).flatMap((item): Entry[] => {
    const message = objectOf(item['message']);
    const { role, content } = message;
    if (role !== 'user' && role !== 'assistant') return [wordless([role], ['system', 'thinking', 'tool'])];
    const texts = textsIn(content).join('\n\n');
    const text = role === 'user' ? stripToolWrappers(texts) : texts.trim();
    // The command line keeps a summary in place of what it sums up.
    if (content === item['conversationSummary']) return [{ kind: 'skipped' }];
    const kind = role === 'user' ? 'user' : 'agent';
    const said: Entry[] = text === '' ? [] : [{ kind, id: ids.next(id, kind, text), at, text }];
    if (objectsOf(message['toolCalls']).length > 0) said.push({ kind: 'working' });
    const types = objectsOf(content).map(({ type }) => type);
    return said.length > 0 ? said : [wordless(types, ['text', 'imageUrl'])];
  });
  return { session: { id, agent: NAME, detail: stringOf(record['workspaceDirectory']) }, entries };
}
