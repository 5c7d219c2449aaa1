import {
  digest,
  type Entry,
  type Reader,
  type Session,
  type SessionEntries,
  type TextFormat,
  UtteranceIds,
} from '../format.ts';
import { removeElements, stripToolWrappers } from '../wrappers.ts';
import { timeOfMs } from './times.ts';

const NAME = 'aider';
const CHAT_START = /^# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)$/;
const PERSON_PREFIX = /^####(?: |$)/;
const TOOL_PREFIX = /^>(?: |$)/;
/** Ends of a person's line and of a tool's message, as aider writes them. No line of a model's Markdown has both. */
const LINE_BREAK = '  ';
const PROMPT_OPTION = /aider\S* (?:.* )?(?:--message|--msg|--message-file|-m|-f)[ =]/;
const REASONING_TAGS = ['thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b', 'think'];
/** Commands, and what aider itself writes in the person's place. */
const NOT_WORDS =
  /^(?:[/!]|<blank>$|# Fix any errors below|Find the "AI" comments below|I've written your instructions in comments)/;
const CONFIRMATION = /\(Y\)es\/\(N\)o/;

type Speaker = 'person' | 'agent' | 'tool' | 'long-tool-message' | 'nobody';

/**
 * `.aider.chat.history.md`, all chats in one folder. A chat has the time of its start in local time, and its messages
 * have none. aider only appends to the file.
 */
export const aider: TextFormat = {
  name: NAME,
  title: 'aider chat history (Markdown)',
  isText: true,
  recognises: (line) => CHAT_START.test(line),
  // Only the file's own time says when a chat was last gone on with.
  isRewritten: true,
  open: () => new AiderReader(),
};

class AiderReader implements Reader<string> {
  readonly #ids = new UtteranceIds();
  #startedAt = '';
  #session: Session | undefined;
  #speaker: Speaker = 'nobody';
  #lines: string[] = [];
  /** False if an editor has removed the spaces at the ends of lines. */
  #hasLineBreaks = false;
  #isProgram = false;
  #lastAgentWords = '';
  /** True once aider has said something after the agent's words. */
  #isAnswerWhole = false;

  read(line: string): SessionEntries | undefined {
    const [, date, time] = CHAT_START.exec(line) ?? [];
    if (date !== undefined) return this.#beginChat(`${date}T${time}`);
    if (this.#startedAt === '') return undefined;
    const speaker = this.#speakerOf(line);
    const entries = speaker === this.#speaker ? [] : this.#take();
    this.#speaker = speaker;
    this.#lines.push(line);
    if (speaker === 'tool') entries.push(...this.#fromTool(line));
    return this.#with(entries);
  }

  end(): SessionEntries | undefined {
    return this.#with(this.#take());
  }

  #beginChat(startedAt: string): SessionEntries | undefined {
    const ended = this.#with([...this.#take(), { kind: 'turn-end' }]);
    this.#startedAt = startedAt;
    this.#session = undefined;
    this.#speaker = 'nobody';
    this.#isProgram = false;
    this.#lastAgentWords = '';
    return ended;
  }

  #speakerOf(line: string): Speaker {
    const isBroken = line.endsWith(LINE_BREAK);
    const isPersons = PERSON_PREFIX.test(line);
    const isTools = TOOL_PREFIX.test(line);
    if (isBroken && (isPersons || isTools)) this.#hasLineBreaks = true;
    if (isPersons && (isBroken || !this.#hasLineBreaks)) return 'person';
    // Only the last line of a long message ends with spaces, and only its first begins with `>`.
    if (this.#speaker === 'long-tool-message') return isBroken ? 'tool' : 'long-tool-message';
    if (isTools && (isBroken || !this.#hasLineBreaks)) return 'tool';
    if (line === '' && this.#speaker !== 'agent') return 'nobody';
    // The agent's words begin after an empty line.
    if (this.#speaker === 'agent' || this.#speaker === 'nobody') return 'agent';
    return isBroken ? 'tool' : 'long-tool-message';
  }

  #fromTool(line: string): Entry[] {
    if (this.#session === undefined && PROMPT_OPTION.test(line)) this.#isProgram = true;
    const message = line.slice(1).trim();
    if (message.startsWith('^C')) return this.#isAnswerWhole ? [] : [{ kind: 'working' }];
    if (message !== '') this.#isAnswerWhole = true;
    return [];
  }

  /** Returns the entries of the lines since the last change of the speaker. */
  #take(): Entry[] {
    const lines = this.#lines.splice(0);
    if (this.#speaker === 'person') return this.#fromPerson(lines);
    if (this.#speaker === 'long-tool-message') return this.#fromTool(lines[0] ?? '');
    // Lines before the person's first words are aider's.
    return this.#speaker === 'agent' && this.#session !== undefined ? this.#fromAgent(lines) : [];
  }

  #fromPerson(lines: string[]): Entry[] {
    const text = stripToolWrappers(lines.map((line) => line.replace(PERSON_PREFIX, '').trimEnd()).join('\n'));
    // In architect mode the agent's plan becomes the question to its editor.
    const isAgents = folded(text) === this.#lastAgentWords;
    if (text === '' || isAgents || NOT_WORDS.test(text) || CONFIRMATION.test(text))
      return [{ kind: 'skipped' }];
    this.#session ??= { id: `${NAME}:${this.#startedAt}:${digest(text)}`, agent: NAME };
    return [{ kind: 'user', ...this.#utterance('user', text), isProgram: this.#isProgram }];
  }

  #fromAgent(lines: string[]): Entry[] {
    const text = REASONING_TAGS.reduce(removeElements, lines.join('\n')).trim();
    if (text === '') return [];
    this.#lastAgentWords = folded(text);
    this.#isAnswerWhole = false;
    return [{ kind: 'agent', ...this.#utterance('agent', text) }];
  }

  #utterance(kind: string, text: string) {
    const scope = this.#session?.id ?? NAME;
    // Without a zone, the time is in that of this machine.
    return { id: this.#ids.next(scope, kind, text), at: timeOfMs(Date.parse(this.#startedAt)), text };
  }

  /** Before the person's first words there is no session, and nothing to record. */
  #with(entries: Entry[]): SessionEntries | undefined {
    return this.#session && entries.length > 0 ? { session: this.#session, entries } : undefined;
  }
}

function folded(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
