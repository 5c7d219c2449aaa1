import {
  type Entry,
  type JsonFormat,
  questionText,
  type Reader,
  type Session,
  type SessionEntries,
} from '../format.ts';
import { asText, type JsonObject, objectOf, objectsOf, stringOf } from '../json.ts';
import { stripToolWrappers } from '../wrappers.ts';

const NAME = 'copilot-cli';
const ASK_TOOL = 'ask_user';
/** Beginnings of the result of the tool that asks the person. */
const ANSWER = /^User (?:responded|selected): /;

/** `~/.copilot/session-state/<session>/events.jsonl`, or `<session>.jsonl` in the folder above. */
export const copilotCli: JsonFormat = {
  name: NAME,
  title: 'GitHub Copilot CLI session (events.jsonl)',
  recognises({ type, data }) {
    const { sessionId, producer } = objectOf(data);
    return type === 'session.start' && typeof sessionId === 'string' && typeof producer === 'string';
  },
  open: () => new CopilotReader(),
};

class CopilotReader implements Reader {
  /** Ids of the calls by which the agent asked the person. */
  readonly #asked = new Set<unknown>();
  #session: Session | undefined;

  read(record: JsonObject): SessionEntries | undefined {
    const data = objectOf(record['data']);
    if (record['type'] === 'session.start') this.#begin(data);
    if (this.#session === undefined) return undefined;
    const entries = this.#entriesOf(record, data);
    return entries.length === 0 ? undefined : { session: this.#session, entries };
  }

  #begin({ sessionId, context }: JsonObject): void {
    this.#session ??= {
      id: `${NAME}:${asText(sessionId)}`,
      agent: NAME,
      detail: stringOf(objectOf(context)['cwd']),
      repository: stringOf(objectOf(context)['repository']),
    };
  }

  #entriesOf(record: JsonObject, data: JsonObject): Entry[] {
    const isSubagents = record['agentId'] !== undefined || data['parentToolCallId'] !== undefined;
    switch (record['type']) {
      case 'user.message':
        return [isSubagents ? { kind: 'skipped' } : fromPerson(record, data)];
      case 'assistant.message':
        return isSubagents ? [{ kind: 'skipped' }] : this.#fromAgent(record, data);
      case 'tool.execution_complete':
        return this.#fromTool(record, data);
      case 'assistant.turn_end':
        return isSubagents ? [] : [{ kind: 'turn-end' }];
      case 'abort':
        return [{ kind: 'working' }];
      default:
        return [];
    }
  }

  #fromAgent(record: JsonObject, { content, toolRequests }: JsonObject): Entry[] {
    const { id, at } = idAndTime(record);
    const text = (stringOf(content) ?? '').trim();
    const calls = objectsOf(toolRequests);
    const said: Entry[] = text === '' ? [] : [{ kind: 'agent', id, at, text }];
    if (said.length + calls.length === 0)
      return [{ kind: typeof content === 'string' ? 'skipped' : 'unread' }];
    const questions = calls.flatMap((call): Entry[] => {
      const { question, choices } = objectOf(call['arguments']);
      if (call['name'] !== ASK_TOOL || typeof question !== 'string') return [];
      this.#asked.add(call['toolCallId']);
      const id = questionId(call['toolCallId']);
      return [{ kind: 'question', id, at, text: questionText(question, choices) }];
    });
    return [...said, ...(calls.length > 0 ? [{ kind: 'working' } as const] : []), ...questions];
  }

  #fromTool(record: JsonObject, { toolCallId, result }: JsonObject): Entry[] {
    if (!this.#asked.has(toolCallId)) return [];
    const content = stringOf(objectOf(result)['content']) ?? '';
    const text = ANSWER.test(content) ? content.replace(ANSWER, '').trim() : '';
    return [
      text === ''
        ? { kind: 'skipped' }
        : { kind: 'user', ...idAndTime(record), text, answers: questionId(toolCallId) },
    ];
  }
}

/** `content` is what the person sees, without the files and reminders that the model gets too. */
function fromPerson(record: JsonObject, { content, source, isAutopilotContinuation }: JsonObject): Entry {
  if (typeof content !== 'string') return { kind: 'unread' };
  const text = stripToolWrappers(content);
  const isPersons = (source === undefined || source === 'user') && isAutopilotContinuation !== true;
  return isPersons && text !== '' ? { kind: 'user', ...idAndTime(record), text } : { kind: 'skipped' };
}

function idAndTime(record: JsonObject) {
  return { id: `${NAME}:${asText(record['id'])}`, at: stringOf(record['timestamp']) };
}

function questionId(toolCallId: unknown): string {
  return `${NAME}:${asText(toolCallId)}`;
}
