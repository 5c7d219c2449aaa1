import {
  type Entry,
  type JsonFormat,
  questionText,
  type Reader,
  type Session,
  type SessionEntries,
  type Utterance,
  UtteranceIds,
} from '../format.ts';
import {
  asText,
  type JsonObject,
  objectOf,
  objectsOf,
  propertyOf,
  stringOf,
  stringsOf,
  tryParseObject,
} from '../json.ts';
import { personsText } from '../wrappers.ts';
import { type Form, formOf, requestIn, textsIn } from './codex-messages.ts';
import { CodexPermissions } from './codex-permissions.ts';

const NAME = 'codex';
const ASK_TOOL = 'request_user_input';
/** Values of `source` in sessions that programs drive. */
const PROGRAM_SOURCES = ['exec', 'mcp'];
const CALL_TYPES = ['function_call', 'custom_tool_call', 'local_shell_call', 'web_search_call'];

/** `~/.codex/sessions/<date>/rollout-….jsonl`. The CLI only appends to the file. */
export const codex: JsonFormat = {
  name: NAME,
  title: 'Codex CLI rollout (JSON Lines)',
  recognises({ type, payload }) {
    return type === 'session_meta' && typeof objectOf(payload)['id'] === 'string';
  },
  open: () => new CodexReader(),
};

class CodexReader implements Reader {
  readonly #ids = new UtteranceIds();
  readonly #path = new Path();
  readonly #permissions = new CodexPermissions();
  /** Ids of the non-secret questions, by the id of the tool call that asked them. */
  readonly #questionIds = new Map<string, string[]>();
  #session: Session | undefined;
  #isSubagent = false;
  #isProgram = false;
  /**
   * Prefix of all ids. A forked session begins with a copy of the original session's messages, so its prefix has the
   * original session's id.
   */
  #idPrefix = '';
  /** True if what was said is in events. Then the messages to and from the model are not read. */
  #hasEvents = false;
  /** Entries after a message to the model, held back until it is certain that no event has the same words. */
  #held: { form: Form | undefined; read: () => Entry[] }[] = [];
  /** The latest words, with the forms in which they were seen. */
  #latest = { key: '', forms: new Set<Form>() };

  read(record: JsonObject): SessionEntries | undefined {
    const payload = objectOf(record['payload']);
    if (record['type'] === 'session_meta') this.#begin(payload);
    if (this.#session === undefined) return undefined;
    const form = formOf(record, payload);
    if (form === 'event' || form === 'item') this.#hasEvents = true;
    if (form === 'response' && this.#hasEvents) return undefined;
    this.#held.push({
      form,
      read: () => [...this.#entriesOf(record, payload), ...this.#permissionsIn(payload, record)],
    });
    // The person's words are in an event before the model's answer, if at all.
    const isHeld = !this.#hasEvents && this.#held[0]?.form === 'response' && payload['role'] !== 'assistant';
    return isHeld ? undefined : this.#release();
  }

  end(): SessionEntries | undefined {
    return this.#release();
  }

  #release(): SessionEntries | undefined {
    const held = this.#held.splice(0).filter(({ form }) => form !== 'response' || !this.#hasEvents);
    const entries = held.flatMap(({ read }) => read());
    for (const entry of entries) if ('text' in entry) this.#path.add(entry);
    if (this.#session === undefined || entries.length === 0) return undefined;
    return { session: this.#session, entries: this.#isSubagent ? [{ kind: 'skipped' }] : entries };
  }

  #begin(meta: JsonObject): void {
    const id = stringOf(meta['id']);
    if (id === undefined) return;
    this.#idPrefix = `${NAME}:${stringOf(meta['forked_from_id']) ?? id}`;
    if (this.#session !== undefined) return;
    this.#session = {
      id: `${NAME}:${id}`,
      agent: NAME,
      detail: stringOf(meta['cwd']),
      repository: stringOf(objectOf(meta['git'])['repository_url']),
    };
    this.#isSubagent = meta['thread_source'] === 'subagent' || 'subagent' in objectOf(meta['source']);
    this.#isProgram = PROGRAM_SOURCES.includes(asText(meta['source']));
  }

  #entriesOf(record: JsonObject, payload: JsonObject): Entry[] {
    const at = stringOf(record['timestamp']);
    if (record['type'] === 'event_msg') return this.#fromEvent(payload, at);
    if (record['type'] !== 'response_item') return [];
    const kind = asText(payload['type']);
    if (formOf(record, payload) === 'response')
      return this.#said(payload['role'] === 'user', textsIn(payload['content']), payload, at, 'response');
    if (kind === 'function_call' && payload['name'] === ASK_TOOL) return this.#questions(payload, at);
    if (kind === 'function_call_output') return this.#answers(payload, at);
    return CALL_TYPES.includes(kind) ? [{ kind: 'working' }] : [];
  }

  #permissionsIn(payload: JsonObject, { timestamp }: JsonObject): Entry[] {
    if (this.#isProgram) return [];
    return this.#permissions.read(payload, stringOf(timestamp), this.#session?.detail, this.#idPrefix);
  }

  #fromEvent(payload: JsonObject, at: string | undefined): Entry[] {
    const { type, message, item } = payload;
    const form = formOf({ type: 'event_msg' }, payload);
    if (form === 'event')
      return this.#said(
        type === 'user_message',
        typeof message === 'string' ? [message] : undefined,
        payload,
        at,
        form,
      );
    if (form === 'item') {
      const said = objectOf(item);
      return this.#said(said['type'] === 'UserMessage', textsIn(said['content']), said, at, form);
    }
    switch (type) {
      case 'task_complete':
      case 'turn_complete':
        return [{ kind: 'turn-end' }];
      case 'turn_aborted':
        return [{ kind: 'working' }];
      case 'thread_rolled_back':
        return this.#rollBack(payload['num_turns']);
      default:
        return [];
    }
  }

  /** `texts` is undefined if the message has an unknown form. */
  #said(
    isPersons: boolean,
    texts: string[] | undefined,
    { phase }: JsonObject,
    at: string | undefined,
    form: Form,
  ): Entry[] {
    if (texts === undefined) return [{ kind: 'unread' }];
    const text = isPersons ? personsText(texts.map(requestIn)) : texts.join('\n\n').trim();
    if (text === '') return [{ kind: 'skipped' }];
    const kind = isPersons ? 'user' : 'agent';
    if (this.#isRepeated(`${kind}\n${text}`, form)) return [];
    const utterance = { id: this.#ids.next(this.#idPrefix, kind, text), at, text };
    if (isPersons) return [{ kind: 'user', ...utterance, isProgram: this.#isProgram }];
    const said: Entry = { kind: 'agent', ...utterance };
    return phase === 'commentary' ? [said, { kind: 'working' }] : [said];
  }

  /** Reports whether these are the latest words, in another form. */
  #isRepeated(key: string, form: Form): boolean {
    const isRepeated = this.#latest.key === key && !this.#latest.forms.has(form);
    if (!isRepeated) this.#latest = { key, forms: new Set() };
    this.#latest.forms.add(form);
    return isRepeated;
  }

  #rollBack(turns: unknown): Entry[] {
    if (typeof turns !== 'number' || !(turns >= 1)) return [];
    return [{ kind: 'rewind', after: this.#path.withoutLast(turns) }];
  }

  #questions(call: JsonObject, at: string | undefined): Entry[] {
    const { questions } = tryParseObject(stringOf(call['arguments']) ?? '') ?? {};
    const publicQuestions = objectsOf(questions).filter(({ isSecret }) => isSecret !== true);
    const callId = asText(call['call_id']);
    this.#questionIds.set(
      callId,
      publicQuestions.map(({ id }) => asText(id)),
    );
    return publicQuestions.map(({ id, question, options }) => ({
      kind: 'question',
      id: this.#questionId(callId, asText(id)),
      at,
      text: questionText(asText(question), options),
    }));
  }

  #answers(result: JsonObject, at: string | undefined): Entry[] {
    const callId = asText(result['call_id']);
    const { answers } = tryParseObject(stringOf(result['output']) ?? '') ?? {};
    const replies = (this.#questionIds.get(callId) ?? []).flatMap((question): Entry[] => {
      const given = objectOf(propertyOf(answers, question))['answers'];
      const text = stringsOf(given).join('\n');
      const asked = this.#questionId(callId, question);
      return text === ''
        ? []
        : [{ kind: 'user', id: `${asked}:answer`, at, text, answers: asked, isProgram: this.#isProgram }];
    });
    return replies.length > 0 ? replies : [{ kind: 'skipped' }];
  }

  #questionId(callId: string, question: string): string {
    return `${this.#idPrefix}:${callId}:${question}`;
  }
}

/** The utterances of a conversation, without what was taken back. */
class Path {
  #utterances: { id: string; isPersons: boolean }[] = [];

  add(entry: Extract<Entry, Utterance>): void {
    // An answer to a tool's question is no turn of its own.
    const isPersons = entry.kind === 'user' && entry.answers === undefined;
    this.#utterances.push({ id: entry.id, isPersons });
  }

  /** Takes back the person's last messages and all that followed. Returns the id of the last utterance that is left. */
  withoutLast(messages: number): string | undefined {
    for (let left = messages; left > 0 && this.#utterances.length > 0; left -= 1) {
      const last = this.#utterances.findLastIndex(({ isPersons }) => isPersons);
      this.#utterances.length = Math.max(last, 0);
    }
    return this.#utterances.at(-1)?.id;
  }
}
