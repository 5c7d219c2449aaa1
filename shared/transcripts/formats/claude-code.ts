import {
  type Entry,
  type JsonFormat,
  questionText,
  type Reader,
  type SessionEntries,
  textsIn,
} from '../format.ts';
import { asText, type JsonObject, objectOf, objectsOf, propertyOf, stringOf } from '../json.ts';
import { personsText } from '../wrappers.ts';
import { ClaudePermissions, isProgram } from './claude-permissions.ts';

const NAME = 'claude-code';

/** `~/.claude/projects/<project>/<session>.jsonl`, one record per line. */
export const claudeCode: JsonFormat = {
  name: NAME,
  title: 'Claude Code session (JSON Lines)',
  recognises({ sessionId, uuid, type, message }) {
    const isKnown = ['user', 'assistant', 'system', 'attachment'].includes(asText(type));
    // Qwen Code's records are alike, but for the messages.
    const isQwens = Array.isArray(objectOf(message)['parts']);
    return typeof sessionId === 'string' && typeof uuid === 'string' && isKnown && !isQwens;
  },
  open: () => new ClaudeReader(),
};

/**
 * Records are a tree: each names its parent. When the person goes back, new records branch off an earlier one, and what
 * came after that is taken back.
 */
class ClaudeReader implements Reader {
  /** Id of the last utterance up to each record on its branch, by the record's `uuid`. */
  readonly #utteranceBefore = new Map<string, string | undefined>();
  /** Id of the last utterance in the file. */
  #latest: string | undefined;
  readonly #permissions = new ClaudePermissions();

  read(record: JsonObject): SessionEntries | undefined {
    const sessionId = stringOf(record['sessionId']);
    if (sessionId === undefined) return undefined;
    const entries = [...this.#withRewind(record, entriesOf(record)), ...this.#permissions.read(record)];
    if (entries.length === 0) return undefined;
    const session = { id: `${NAME}:${sessionId}`, agent: NAME, detail: stringOf(record['cwd']) };
    return { session, entries };
  }

  #withRewind(record: JsonObject, entries: Entry[]): Entry[] {
    const isPersons = entries.some(({ kind }) => kind === 'user');
    const before = this.#utteranceOnTheWayTo(record, isPersons);
    const utterance = entries.findLast((entry) => 'text' in entry)?.id;
    if (record['isSidechain'] !== true)
      this.#utteranceBefore.set(asText(record['uuid']), utterance ?? before);
    const goesBack = isPersons && before !== this.#latest;
    this.#latest = utterance ?? this.#latest;
    return goesBack ? [{ kind: 'rewind', after: before }, ...entries] : entries;
  }

  #utteranceOnTheWayTo(record: JsonObject, isPersons: boolean): string | undefined {
    // After a compaction only `logicalParentUuid` leads back.
    const parent = stringOf(record['parentUuid']) ?? stringOf(record['logicalParentUuid']);
    if (parent === undefined && record['parentUuid'] === null && isPersons) return undefined;
    const isKnown = parent !== undefined && this.#utteranceBefore.has(parent);
    return isKnown ? this.#utteranceBefore.get(parent) : this.#latest;
  }
}

const SKIPPED: Entry = { kind: 'skipped' };
const UNREAD: Entry = { kind: 'unread' };
/** Types of blocks without words of the person or the agent. */
const WORDLESS_BLOCKS =
  /^(thinking|redacted_thinking|image|document|fallback|container_upload|(server_|mcp_)?tool_use|.*tool_result)$/;

function entriesOf(record: JsonObject): Entry[] {
  const { type, subtype } = record;
  if (type === 'system') return subtype === 'turn_duration' ? [{ kind: 'turn-end' }] : [];
  if (type === 'attachment') return fromAttachment(record);
  if (type !== 'user' && type !== 'assistant') return [];
  if (isMachineMade(record)) return [SKIPPED];
  return type === 'user' ? fromUser(record) : fromAgent(record);
}

/** Reads a message that the person typed while the agent worked, and that the agent read before its turn ended. */
function fromAttachment(record: JsonObject): Entry[] {
  const { type, commandMode = 'prompt', prompt, origin } = objectOf(record['attachment']);
  if (type !== 'queued_command') return [];
  const text = personsText(textsIn(prompt));
  const isPersons = commandMode === 'prompt' && isHuman(origin) && !isMachineMade(record) && text !== '';
  return isPersons ? [{ kind: 'working' }, personsWords(record, text)] : [SKIPPED];
}

/** Recognises subagents' records, summaries, and messages that the tool itself wrote. */
function isMachineMade(record: JsonObject): boolean {
  const flags = [
    'isSidechain',
    'isMeta',
    'isCompactSummary',
    'isApiErrorMessage',
    'isVisibleInTranscriptOnly',
  ];
  return flags.some((flag) => record[flag] === true) || !isHuman(record['origin']);
}

function isHuman(origin: unknown): boolean {
  const { kind = 'human' } = objectOf(origin);
  return kind === 'human';
}

function fromUser(record: JsonObject): Entry[] {
  const { content } = objectOf(record['message']);
  const result = objectsOf(content).find(({ type }) => type === 'tool_result');
  if (result !== undefined) return [...fromToolResult(record, result), ...fromTextBeside(record)];
  if (isUnknownForm(content)) return [UNREAD];
  const isInterrupt = textsIn(content).some((text) => text.startsWith(INTERRUPTION_START));
  const interruption: Entry[] = isInterrupt ? [{ kind: 'working' }] : [];
  const text = personsText(textsIn(content));
  return [...interruption, text === '' ? SKIPPED : personsWords(record, text)];
}

/** Reads what the person typed while the tool ran. It is in the record of the tool's result. */
function fromTextBeside(record: JsonObject): Entry[] {
  const text = personsText(textsIn(objectOf(record['message'])['content']));
  return text === '' ? [] : [{ kind: 'working' }, personsWords(record, text, ':text')];
}

function personsWords(record: JsonObject, text: string, suffix = ''): Entry {
  const { id, at } = idAndTime(record);
  return { kind: 'user', id: `${id}${suffix}`, at, text, isProgram: isProgram(record) };
}

/** Tools by which the agent writes a prompt for another agent. */
const DELEGATING_TOOL = /^(Task|Agent)$/;
const INTERRUPTION_START = '[Request interrupted by user';
const REJECTION_START = "The user doesn't want to proceed with this tool use.";
const REASON_LABEL = 'the user said:';
/** What Claude Code says when the person answers a question by wanting to talk about it. */
const CLARIFICATION_START = 'The user wants to clarify these questions.';
const NOTE_START = "\n\nNote: The user's next message";

/** Returns the person's answers to the agent's questions, or the person's reason for rejecting a tool call. */
function fromToolResult(record: JsonObject, result: JsonObject): Entry[] {
  const { questions, answers, annotations } = objectOf(record['toolUseResult']);
  const { at, id } = idAndTime(record);
  const replies = objectsOf(questions).flatMap(({ question }, place): Entry[] => {
    const answer = stringOf(propertyOf(answers, asText(question)));
    if (answer === undefined) return [];
    const notes = stringOf(objectOf(propertyOf(annotations, asText(question)))['notes']);
    const text = notes ? `${answer}\n${notes}` : answer;
    const asked = questionId(result['tool_use_id'], place);
    return [{ kind: 'user', id: `${id}:${place}`, at, text, answers: asked, isProgram: isProgram(record) }];
  });
  if (replies.length > 0) return replies;
  // Since 2.1.332 the record says who decided: a hook, a rule or nobody may refuse in the same words.
  const { source = 'user' } = objectOf(record['permissionDecision']);
  const isPersons = asText(source).startsWith('user');
  const reason = isPersons ? reasonOf(textsIn(result['content']).join('\n')) : '';
  return [reason === '' ? SKIPPED : personsWords(record, reason)];
}

function reasonOf(text: string): string {
  const start = text.startsWith(REJECTION_START) ? text.indexOf(REASON_LABEL) : -1;
  if (start < 0) return '';
  const [reason = ''] = text.slice(start + REASON_LABEL.length).split(NOTE_START);
  return reason.trimStart().startsWith(CLARIFICATION_START) ? '' : reason.trim();
}

function fromAgent(record: JsonObject): Entry[] {
  const { content, stop_reason: stop, model } = objectOf(record['message']);
  if (model === '<synthetic>') return [SKIPPED];
  if (isUnknownForm(content)) return [UNREAD];
  const blocks = objectsOf(content);
  const text = textsIn(content).join('\n\n').trim();
  const { id, at } = idAndTime(record);
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  const entries: Entry[] = text === '' ? [] : [{ kind: 'agent', id, at, text }];
  if (calls.length > 0) entries.push({ kind: 'working' });
  for (const { input } of calls.filter(({ name }) => DELEGATING_TOOL.test(asText(name))))
    entries.push({ kind: 'delegated', prompt: stringOf(objectOf(input)['prompt']) ?? '' });
  for (const call of calls.filter(({ name }) => name === 'AskUserQuestion')) {
    const questions = objectsOf(objectOf(call['input'])['questions']);
    entries.push(
      ...questions.map(({ question, options }, place): Entry => {
        const asked = questionText(asText(question), options);
        return { kind: 'question', id: questionId(call['id'], place), at, text: asked };
      }),
    );
  }
  if (stop === 'end_turn') entries.push({ kind: 'turn-end' });
  return entries.length === 0 ? [SKIPPED] : entries;
}

/** Reports whether none of the message's blocks is of a known type. */
function isUnknownForm(content: unknown): boolean {
  if (typeof content === 'string') return false;
  if (!Array.isArray(content)) return true;
  const types = objectsOf(content).map(({ type }) => asText(type));
  return content.length > 0 && !types.some((type) => type === 'text' || WORDLESS_BLOCKS.test(type));
}

/** A message has the same `uuid` in the files of resumed and forked sessions. */
function idAndTime(record: JsonObject): { id: string; at: string | undefined } {
  return { id: `${NAME}:${asText(record['uuid'])}`, at: stringOf(record['timestamp']) };
}

function questionId(toolUseId: unknown, place: number): string {
  return `${NAME}:${asText(toolUseId)}:${place}`;
}
