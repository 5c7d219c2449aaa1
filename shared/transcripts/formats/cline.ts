import {
  digest,
  type Entry,
  type JsonFormat,
  questionText,
  type Reader,
  type Session,
  type SessionEntries,
} from '../format.ts';
import { asText, type JsonObject, listOf, objectsOf, stringOf, tryParseObject } from '../json.ts';
import { stripToolWrappers } from '../wrappers.ts';
import { timeOfMs } from './times.ts';

const NAME = 'cline';
const ASK_TYPES = ['followup', 'plan_mode_respond', 'act_mode_respond'];
const WORK_TYPES = [
  'tool',
  'command',
  'browser_action',
  'browser_action_launch',
  'use_mcp_server',
  'mcp_server_request_started',
];

/**
 * `<storage>/tasks/<task>/ui_messages.json` of Cline or an extension derived from it: an array of messages. The file
 * beside it with the messages to the provider is not read, because it has no times.
 */
export const cline: JsonFormat = {
  name: NAME,
  title: 'Cline task (ui_messages.json)',
  recognises({ ts, type }) {
    return typeof ts === 'number' && ['ask', 'say'].includes(asText(type));
  },
  open: () => new ClineReader(),
};

class ClineReader implements Reader {
  #session: Session | undefined;

  read(message: JsonObject): SessionEntries {
    const isFirst = this.#session === undefined;
    // Only the directory's name has the task's id, so the time and a hash of the first message take its place.
    const firstText = stringOf(message['text']) ?? '';
    this.#session ??= { id: `${NAME}:${asText(message['ts'])}:${digest(firstText)}`, agent: NAME };
    return { session: this.#session, entries: entriesOf(message, this.#session.id, isFirst) };
  }
}

function entriesOf(message: JsonObject, scope: string, isFirst: boolean): Entry[] {
  const { ts, type, partial } = message;
  if (typeof ts !== 'number' || partial === true) return [];
  const subtype = asText(type === 'ask' ? message['ask'] : message['say']);
  const text = (stringOf(message['text']) ?? '').trim();
  const origin = { id: `${scope}:${ts}`, at: timeOfMs(ts) };
  if (type === 'ask' && ASK_TYPES.includes(subtype))
    return [{ kind: 'question', ...origin, text: questionIn(text) }];
  if (type === 'ask' && subtype === 'completion_result') return [{ kind: 'turn-end' }];
  if (WORK_TYPES.includes(subtype)) return [{ kind: 'working' }];
  if (type !== 'say') return [];
  if (subtype === 'task' || subtype === 'user_feedback' || (isFirst && subtype === 'text')) {
    const words = stripToolWrappers(text);
    return [words === '' ? { kind: 'skipped' } : { kind: 'user', ...origin, text: words }];
  }
  if (text === '') return [];
  if (subtype === 'text') return [{ kind: 'agent', ...origin, text }];
  return subtype === 'completion_result' ? [{ kind: 'agent', ...origin, text }, { kind: 'turn-end' }] : [];
}

/** The text is the question itself, or a JSON object with answer options in one of two formats. */
function questionIn(text: string): string {
  const { question, response, options, suggest } = tryParseObject(text) ?? {};
  const asked = stringOf(question) ?? stringOf(response);
  if (asked === undefined) return text;
  return questionText(asked, [...listOf(options), ...objectsOf(suggest).map(({ answer }) => answer)]);
}
