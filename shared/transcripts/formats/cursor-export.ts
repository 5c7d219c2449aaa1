import {
  digest,
  type Entry,
  questionText,
  type Reader,
  type Session,
  type SessionEntries,
  type TextFormat,
  UtteranceIds,
} from '../format.ts';
import { stripToolWrappers } from '../wrappers.ts';
import { exportTime } from './cursor-time.ts';

const NAME = 'cursor';
const EXPORTED = /^_Exported on (.{1,80}) from Cursor\b.{0,40}_$/;
const RULE = '---';
const SPEAKER = /^\*\*(User|Cursor)\*\*$/;
const QUESTION = /^> \*\*(.+)\*\*$/;
const OPTION = /^> - (.*?)( ✔)?$/;
const ANSWER = /^> Answer: (.*)$/;

/** A chat that Cursor exported as Markdown. All messages have the time of the export, since the file has no other. */
export const cursorExport: TextFormat = {
  name: NAME,
  title: 'Cursor chat export (Markdown)',
  isText: true,
  recognises: (line) => EXPORTED.test(line),
  open: () => new CursorReader(),
};

class CursorReader implements Reader<string> {
  readonly #ids = new UtteranceIds();
  #title: string | undefined;
  #at: string | undefined;
  #session: Session | undefined;
  #speaker: string | undefined;
  #lines: string[] = [];

  read(line: string): SessionEntries | undefined {
    this.#title ??= line;
    if (this.#speaker === undefined) this.#at ??= timeIn(line);
    const [, speaker] = this.#isAfterRule() ? (SPEAKER.exec(line) ?? []) : [];
    if (speaker === undefined) {
      this.#lines.push(line);
      return undefined;
    }
    const said = this.#take();
    this.#speaker = speaker;
    return said;
  }

  /** The file is complete once it is written. */
  end(): SessionEntries | undefined {
    return this.#take();
  }

  #isAfterRule(): boolean {
    return this.#lines.at(-1) === '' && this.#lines.at(-2) === RULE;
  }

  /** Returns the entries of the lines since the last name of a speaker. */
  #take(): SessionEntries | undefined {
    const text = this.#lines
      .splice(0)
      .join('\n')
      .replace(/\n---\s*$/, '')
      .trim();
    if (this.#speaker === undefined) return undefined;
    const isPersons = this.#speaker === 'User';
    this.#session ??= {
      id: `${NAME}:${digest(`${this.#title}\n${text}`)}`,
      agent: NAME,
      detail: this.#title?.replace(/^# /, ''),
    };
    return { session: this.#session, entries: isPersons ? this.#fromPerson(text) : this.#fromAgent(text) };
  }

  #fromPerson(message: string): Entry[] {
    const text = stripToolWrappers(message);
    return [text === '' ? { kind: 'skipped' } : { kind: 'user', ...this.#utterance('user', text) }];
  }

  #fromAgent(text: string): Entry[] {
    const parts: (string[] | Question)[] = [[]];
    for (const block of text.split('\n\n')) {
      const question = questionIn(block.split('\n'));
      const last = parts.at(-1);
      if (question !== undefined) parts.push(question);
      else if (Array.isArray(last)) last.push(block);
      else parts.push([block]);
    }
    return parts.flatMap((part): Entry[] => {
      if (!Array.isArray(part)) return this.#fromQuestion(part);
      const words = part.join('\n\n').trim();
      return words === '' ? [] : [{ kind: 'agent', ...this.#utterance('agent', words) }];
    });
  }

  #fromQuestion({ asked, answer }: Question): Entry[] {
    const question = this.#utterance('agent', asked);
    const reply: Entry[] =
      answer === '' ? [] : [{ kind: 'user', ...this.#utterance('user', answer), answers: question.id }];
    return [{ kind: 'question', ...question }, ...reply];
  }

  #utterance(kind: string, text: string) {
    return { id: this.#ids.next(this.#session?.id ?? NAME, kind, text), at: this.#at, text };
  }
}

interface Question {
  asked: string;
  /** The choices and words of the person; '' if there was no answer. */
  answer: string;
}

/** Reads a quotation with a question in bold, its options, of which the chosen ones are ticked, and an answer. */
function questionIn(lines: string[]): Question | undefined {
  const [, question] = QUESTION.exec(lines[0] ?? '') ?? [];
  const options = lines.flatMap((line) => {
    const [, label, tick] = OPTION.exec(line) ?? [];
    return label === undefined ? [] : [{ label, isChosen: tick !== undefined }];
  });
  if (question === undefined || options.length === 0) return undefined;
  const chosen = options.filter(({ isChosen }) => isChosen).map(({ label }) => label);
  const written = lines.flatMap((line) => ANSWER.exec(line)?.[1] ?? []);
  return { asked: questionText(question, options), answer: [...chosen, ...written].join('\n') };
}

function timeIn(line: string): string | undefined {
  const [, shown] = EXPORTED.exec(line) ?? [];
  return shown === undefined ? undefined : exportTime(shown);
}
