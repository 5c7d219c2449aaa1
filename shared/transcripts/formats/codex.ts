import {
  type Entry,
  type Format,
  questionText,
  type Reader,
  type Session,
  type SessionEntries,
  UtteranceIds,
} from '../format.ts';
import {
  type JsonObject,
  objectOf,
  objectsOf,
  parseObject,
  propertyOf,
  stringOf,
  tryParseObject,
} from '../json.ts';
import { stripToolWrappers } from '../wrappers.ts';

const NAME = 'codex';
/** Line in a message from an editor. It comes after the list of open files and before the person's words. */
const REQUEST_HEADING = '## My request for Codex:';
const ASK_TOOL = 'request_user_input';
const CALL_TYPES = ['function_call', 'custom_tool_call', 'local_shell_call', 'web_search_call'];

/** `~/.codex/sessions/<date>/rollout-….jsonl`. The CLI only appends to the file. */
export const codex: Format = {
  name: NAME,
  title: 'Codex CLI rollout (JSON Lines)',
  recognises(line) {
    const { type, payload } = tryParseObject(line) ?? {};
    return type === 'session_meta' && typeof objectOf(payload)['id'] === 'string';
  },
  open: () => new CodexReader(),
};

class CodexReader implements Reader {
  readonly #ids = new UtteranceIds();
  /** Ids of the non-secret questions, by the id of the tool call that asked them. */
  readonly #questionIds = new Map<string, string[]>();
  #session: Session | undefined;
  #isSubagent = false;
  /**
   * Prefix of all ids. A forked session begins with a copy of the original session's messages, so its prefix has the
   * original session's id.
   */
  #idPrefix = '';

  read(line: string): SessionEntries | undefined {
    const record = parseObject(line);
    const payload = objectOf(record['payload']);
    if (record['type'] === 'session_meta') this.#begin(payload);
    if (this.#session === undefined) return undefined;
    const entries = this.#entriesOf(record, payload);
    if (entries.length === 0) return undefined;
    return { session: this.#session, entries: this.#isSubagent ? [{ kind: 'skipped' }] : entries };
  }

  #begin(meta: JsonObject): void {
    const id = stringOf(meta['id']);
    if (id === undefined) return;
    this.#idPrefix = `${NAME}:${stringOf(meta['forked_from_id']) ?? id}`;
    if (this.#session !== undefined) return;
    this.#session = { id: `${NAME}:${id}`, agent: NAME, detail: stringOf(meta['cwd']) };
    this.#isSubagent = meta['thread_source'] === 'subagent' || 'subagent' in objectOf(meta['source']);
  }

  #entriesOf({ type, timestamp }: JsonObject, payload: JsonObject): Entry[] {
    const at = stringOf(timestamp);
    if (type === 'event_msg') return this.#fromEvent(payload, at);
    if (type !== 'response_item') return [];
    const kind = String(payload['type']);
    if (kind === 'function_call' && payload['name'] === ASK_TOOL) return this.#questions(payload, at);
    if (kind === 'function_call_output') return this.#answers(payload, at);
    return CALL_TYPES.includes(kind) ? [{ kind: 'working' }] : [];
  }

  #fromEvent(payload: JsonObject, at: string | undefined): Entry[] {
    const message = stringOf(payload['message']) ?? '';
    switch (payload['type']) {
      case 'user_message': {
        const text = stripToolWrappers(message.slice(startOfRequest(message)));
        return text === '' ? [{ kind: 'skipped' }] : [{ kind: 'user', id: this.#id('user', text), at, text }];
      }
      case 'agent_message': {
        const text = message.trim();
        if (text === '') return [];
        const said: Entry = { kind: 'agent', id: this.#id('agent', text), at, text };
        return payload['phase'] === 'commentary' ? [said, { kind: 'working' }] : [said];
      }
      case 'task_complete':
      case 'turn_complete':
        return [{ kind: 'turn-end' }];
      case 'turn_aborted':
        return [{ kind: 'working' }];
      default:
        return [];
    }
  }

  #id(kind: string, text: string): string {
    return this.#ids.next(this.#idPrefix, kind, text);
  }

  #questions(call: JsonObject, at: string | undefined): Entry[] {
    const { questions } = tryParseObject(stringOf(call['arguments']) ?? '') ?? {};
    const publicQuestions = objectsOf(questions).filter(({ isSecret }) => isSecret !== true);
    const callId = String(call['call_id']);
    this.#questionIds.set(
      callId,
      publicQuestions.map(({ id }) => String(id)),
    );
    return publicQuestions.map(({ id, question, options }) => ({
      kind: 'question',
      id: this.#questionId(callId, String(id)),
      at,
      text: questionText(String(question), options),
    }));
  }

  #answers(result: JsonObject, at: string | undefined): Entry[] {
    const callId = String(result['call_id']);
    const { answers } = tryParseObject(stringOf(result['output']) ?? '') ?? {};
    const replies = (this.#questionIds.get(callId) ?? []).flatMap((question): Entry[] => {
      const given = objectOf(propertyOf(answers, question))['answers'];
      const text = Array.isArray(given) ? given.filter((one) => typeof one === 'string').join('\n') : '';
      const asked = this.#questionId(callId, question);
      return text === '' ? [] : [{ kind: 'user', id: `${asked}:answer`, at, text, answers: asked }];
    });
    return replies.length > 0 ? replies : [{ kind: 'skipped' }];
  }

  #questionId(callId: string, question: string): string {
    return `${this.#idPrefix}:${callId}:${question}`;
  }
}

function startOfRequest(message: string): number {
  const at = message.indexOf(REQUEST_HEADING);
  return at < 0 ? 0 : at + REQUEST_HEADING.length;
}
