import type { Entry, JsonFormat, SessionEntries } from '../format.ts';
import { asText, type JsonObject, objectOf, objectsOf, stringOf, tryParseObject } from '../json.ts';
import { byTime, timeIn } from './times.ts';

const NAME = 'supermemory';

/**
 * Documents of Supermemory, as its API lists them (`memories` or `documents`), or the memories that it extracted
 * (`memoryEntries`). A list may also be the whole file, or lines. The text of a document is the person's, unless it is
 * a conversation, or comes from a page or a file. Extracted memories are a model's.
 */
export const supermemory: JsonFormat = {
  name: NAME,
  title: 'Supermemory documents',
  recognises(record) {
    const first = documentsIn(record).find((one) => textOf(one) !== '');
    return first !== undefined && 'createdAt' in first && typeof first['id'] === 'string';
  },
  open: (at) => ({ read: (record) => sessionEntriesOf(documentsIn(record), at) }),
};

function documentsIn(record: JsonObject): JsonObject[] {
  const { memories, documents, memoryEntries, content } = record;
  const lists = [memories, documents, content === undefined ? memoryEntries : undefined].filter(
    Array.isArray,
  );
  return lists.length > 0 ? objectsOf(lists[0]) : [record];
}

/** Returns an empty text for a document without one. */
function textOf({ content, memory, summary }: JsonObject): string {
  return (stringOf(content) ?? stringOf(memory) ?? stringOf(summary) ?? '').trim();
}

function sessionEntriesOf(documents: readonly JsonObject[], at: string | undefined): SessionEntries {
  const [first = {}] = documents;
  const [tag] = Array.isArray(first['containerTags']) ? first['containerTags'] : [first['spaceContainerTag']];
  return {
    session: { id: `${NAME}:${stringOf(tag) ?? 'memories'}`, agent: NAME, at },
    entries: byTime(documents, 'createdAt').flatMap(entriesOf),
  };
}

function entriesOf(document: JsonObject): Entry[] {
  const text = textOf(document);
  const { id, createdAt, isForgotten, content } = document;
  if (text === '' || isForgotten === true) return [{ kind: 'skipped' }];
  const utterance = { id: `${NAME}:${asText(id)}`, at: timeIn(createdAt), text };
  const turns = turnsIn(text);
  const said =
    turns.length > 0
      ? turns.map((turn, place): Entry => ({ ...turn, id: `${utterance.id}:${place}`, at: utterance.at }))
      : [
          {
            kind: typeof content === 'string' && isPersons(document) ? ('user' as const) : ('agent' as const),
            ...utterance,
          },
        ];
  // What was said in one document is no answer to another.
  return [...said, { kind: 'working' }];
}

/** Documents of other types are pages, files and messages of others. */
function isPersons({ type, metadata }: JsonObject): boolean {
  const { role = 'user' } = objectOf(metadata);
  return role === 'user' && (type === undefined || type === null || type === 'text');
}

/** Begins a turn of a conversation. */
const TURN = /^(user|human|assistant|ai): ?/im;
const PERSONS = /^(user|human)$/i;

/** Returns the turns of a conversation: messages in JSON, or a text that names who speaks from its beginning on. */
function turnsIn(text: string): { kind: 'user' | 'agent'; text: string }[] {
  const turns = text.startsWith('[') ? messagesIn(text) : spokenIn(text);
  return turns.flatMap(({ role, words }) => {
    const kind = PERSONS.test(role) ? ('user' as const) : ('agent' as const);
    return words.trim() === '' ? [] : [{ kind, text: words.trim() }];
  });
}

function messagesIn(text: string): { role: string; words: string }[] {
  const { messages } = tryParseObject(`{"messages":${text}}`) ?? {};
  return objectsOf(messages).flatMap(({ role, content }) =>
    typeof role === 'string' && typeof content === 'string' ? [{ role, words: content }] : [],
  );
}

function spokenIn(text: string): { role: string; words: string }[] {
  if (text.search(TURN) !== 0) return [];
  const [, ...parts] = text.split(new RegExp(TURN, 'gim'));
  return parts.flatMap((role, place) => (place % 2 === 0 ? [{ role, words: parts[place + 1] ?? '' }] : []));
}
