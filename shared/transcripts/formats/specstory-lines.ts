const TIME = /(\d{4}-\d\d-\d\d)[ _T](\d\d)[:-](\d\d)(?:[:-](\d\d(?:\.\d+)?))? ?(Z|[+-]\d{4})?$/;
const FENCE = /^\s{0,3}(`{3,}|~{3,})(.*)$/;
const CALL_LINE = /^(Tool use: \*\*|\*\*Agent task list:\*\*|<details>|<tool-use)/;
const RULE = '---';

/**
 * Converts `2026-05-01 10:00:05Z`, `2026-05-01T10:00:05.250Z` or `2026-05-01 12:00+0200` at the end of a text to RFC
 * 3339. Without a zone it is UTC.
 */
export function timeOf(shown: string | undefined): string | undefined {
  const [, date, hour, minute, second = '00', zone = 'Z'] = TIME.exec(shown ?? '') ?? [];
  if (date === undefined) return undefined;
  return `${date}T${hour}:${minute}:${second}${zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`}`;
}

/** A line that begins or ends a block of code. */
export class Fence {
  readonly #marks: string;
  /** True if the line has no name of a language: only such a line can end a block. */
  readonly isBare: boolean;

  constructor(marks: string, name: string) {
    this.#marks = marks;
    this.isBare = name.trim() === '';
  }

  /** Reports whether this fence could end a block that the other one began. */
  isOfKind(other: Fence): boolean {
    return this.#marks.startsWith(other.#marks);
  }
}

export function fenceOf(line: string): Fence | undefined {
  const [, marks, name = ''] = FENCE.exec(line) ?? [];
  return marks === undefined ? undefined : new Fence(marks, name);
}

/**
 * Finds the calls of tools in an agent's message. They are `<tool-use>` elements; or `<details>` elements; or, in files
 * of 2025, a line `Tool use: **name**` with all that follows it up to a rule. What a tool printed is in code fences or
 * in `<details>`, and may contain any text.
 */
export class ToolBlocks {
  #kind: 'tool-use' | 'details' | 'section' | undefined;
  /** The open blocks of code. */
  #fences: Fence[] = [];
  #openDetails = 0;
  #isThought = false;

  /** True if the next line cannot begin another message. */
  get isInside(): boolean {
    if (this.#kind === 'section') return this.#fences.length > 0 || this.#openDetails > 0;
    return this.#kind !== undefined || this.#isThought;
  }

  reset(): void {
    this.#kind = undefined;
    this.#fences = [];
    this.#openDetails = 0;
    this.#isThought = false;
  }

  /** `call` is the first line of a call, `call-goes-on` is another line of it. */
  read(line: string): 'text' | 'call' | 'call-goes-on' {
    if (this.#kind !== undefined) {
      this.#follow(line);
      return 'call-goes-on';
    }
    this.#isThought ||= line.startsWith('<think>');
    if (this.#isThought) {
      this.#isThought = !line.includes('</think>');
      return 'text';
    }
    const [start] = CALL_LINE.exec(line) ?? [];
    if (start === undefined) return 'text';
    this.#kind = start === '<tool-use' ? 'tool-use' : start === '<details>' ? 'details' : 'section';
    this.#follow(line);
    return 'call';
  }

  #follow(line: string): void {
    const fence = fenceOf(line);
    const open = this.#fences.at(-1);
    if (open !== undefined && fence?.isBare && fence.isOfKind(open)) this.#fences.pop();
    else if (fence !== undefined && (open === undefined || !fence.isBare)) this.#fences.push(fence);
    if (open !== undefined || fence !== undefined) return;
    this.#openDetails += count(line, '<details>') - count(line, '</details>');
    const isOver = {
      'tool-use': line.includes('</tool-use>'),
      details: this.#openDetails <= 0,
      section: line.trim() === RULE && this.#openDetails <= 0,
    };
    if (this.#kind !== undefined && isOver[this.#kind]) this.reset();
  }
}

function count(line: string, part: string): number {
  return line.split(part).length - 1;
}
