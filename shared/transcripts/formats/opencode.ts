import { type Entry, type JsonFormat, questionText, type SessionEntries, wordless } from '../format.ts';
import { asText, type JsonObject, listOf, objectOf, objectsOf, stringOf, stringsOf } from '../json.ts';
import { stripToolWrappers } from '../wrappers.ts';
import { timeOfMs } from './times.ts';

const NAME = 'opencode';
const SKIPPED: Entry = { kind: 'skipped' };
const PART_TYPES = [
  'text',
  'reasoning',
  'tool',
  'file',
  'step-start',
  'step-finish',
  'snapshot',
  'patch',
  'agent',
  'subtask',
  'retry',
  'compaction',
];

/** `opencode run` puts an argument with a space in quotes. */
const QUOTED_ARGUMENT = /^"((?:[^"]|(?<=\\)")*)"$/;

/** Reads the output of `opencode export <session>`. The sessions of `opencode.db` are read in the same form. */
export const opencode: JsonFormat = {
  name: NAME,
  title: 'opencode session (opencode export, opencode.db)',
  recognises({ info, messages }) {
    const { id, directory } = objectOf(info);
    return typeof id === 'string' && typeof directory === 'string' && Array.isArray(messages);
  },
  open: () => ({ read: sessionEntriesOf }),
};

function sessionEntriesOf({ info, messages }: JsonObject): SessionEntries {
  const { id, directory, parentID: parent, revert, permission } = objectOf(info);
  const all = objectsOf(messages).map((message) => ({
    info: objectOf(message['info']),
    parts: objectsOf(message['parts']),
  }));
  // The person took back this message, and all after it.
  const { messageID: undoneId = null } = objectOf(revert);
  const undone = all.findIndex((message) => message.info['id'] === undoneId);
  const isSubagents = typeof parent === 'string';
  // Where `opencode run` began the session, nobody is there to answer.
  const isProgram = objectsOf(permission).some(
    (rule) => rule['permission'] === 'question' && rule['action'] === 'deny',
  );
  const entries = all.flatMap((message, place) =>
    isSubagents || (undone >= 0 && place >= undone)
      ? [SKIPPED]
      : entriesOf(message.info, message.parts, isProgram),
  );
  return { session: { id: `${NAME}:${asText(id)}`, agent: NAME, detail: stringOf(directory) }, entries };
}

function entriesOf(info: JsonObject, parts: JsonObject[], isProgram: boolean): Entry[] {
  if (info['role'] === 'user') return [fromPerson(info, parts, isProgram)];
  if (info['role'] !== 'assistant') return [{ kind: 'unread' }];
  // A summary takes the place of messages that no longer fit.
  if (info['summary'] === true) return [SKIPPED];
  const entries = parts.flatMap((part) => fromAgent(info, part));
  if (entries.length === 0) return [withoutWords(parts)];
  return info['finish'] === 'stop' ? [...entries, { kind: 'turn-end' }] : entries;
}

/** Synthetic texts are files and notes that opencode adds. */
function fromPerson(info: JsonObject, parts: JsonObject[], isProgram: boolean): Entry {
  const typed = parts.filter(
    ({ type, synthetic, ignored }) => type === 'text' && synthetic !== true && ignored !== true,
  );
  const text = stripToolWrappers(typed.map((part) => stringOf(part['text']) ?? '').join('\n\n'));
  if (text === '') return withoutWords(parts);
  if (parts.some(({ type }) => type === 'compaction')) return SKIPPED;
  const given = isProgram
    ? text.replace(QUOTED_ARGUMENT, (_, argument: string) => argument.replaceAll('\\"', '"'))
    : text;
  return { kind: 'user', id: `${NAME}:${asText(info['id'])}`, at: createdAt(info), text: given, isProgram };
}

function fromAgent(info: JsonObject, part: JsonObject): Entry[] {
  if (part['type'] === 'tool') return [{ kind: 'working' }, ...fromQuestions(part)];
  const text =
    part['type'] === 'text' && part['synthetic'] !== true ? (stringOf(part['text']) ?? '').trim() : '';
  const at = timeOfMs(objectOf(part['time'])['start']) ?? createdAt(info);
  return text === '' ? [] : [{ kind: 'agent', id: `${NAME}:${asText(part['id'])}`, at, text }];
}

/** The state of the tool `question` has the questions, and for each the labels that the person chose or the words. */
function fromQuestions({ id, tool, state }: JsonObject): Entry[] {
  const { input, metadata, time } = objectOf(state);
  const { answers } = objectOf(metadata);
  if (tool !== 'question') return [];
  const { start, end } = objectOf(time);
  return objectsOf(objectOf(input)['questions']).flatMap(({ question, options }, place): Entry[] => {
    const asked = `${NAME}:${asText(id)}:${place}`;
    const given = listOf(answers)[place];
    const text = stringsOf(given).join('\n');
    const reply: Entry = { kind: 'user', id: `${asked}:answer`, at: timeOfMs(end), text, answers: asked };
    const prompt: Entry = {
      kind: 'question',
      id: asked,
      at: timeOfMs(start),
      text: questionText(asText(question), options),
    };
    return text === '' ? [prompt] : [prompt, reply];
  });
}

function withoutWords(parts: JsonObject[]): Entry {
  return wordless(
    parts.map(({ type }) => type),
    PART_TYPES,
  );
}

function createdAt(info: JsonObject): string | undefined {
  return timeOfMs(objectOf(info['time'])['created']);
}
