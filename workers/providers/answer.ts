import type { Static, TSchema } from 'typebox';
import { isDisplayable } from '../../shared/domain/model-text.ts';
import type { Fault } from '../../shared/schemas/errors.ts';
import { compile, type Validator } from '../../shared/schemas/validator.ts';

/**
 * Maximum number of tokens of each answer. The limits of `reply`, `episode` and `facts` leave room for a reasoning
 * model's thoughts. Some models refuse a limit above 4096.
 */
export const OUTPUT_TOKENS = {
  complete_draft: 128,
  next_prompt: 512,
  reply: 4096,
  episode: 2048,
  facts: 4096,
} as const;

/** Number of additional tokens for a prediction by a model that thinks before it answers. */
export const THOUGHT_TOKENS = 2048;

/**
 * Compiles the check of an answer. Ignores `maxItems`, which not every server respects: dropping the excess is better
 * than asking again.
 */
export function compileAnswer<T extends TSchema>(schema: T): Validator<Static<T>> {
  const unbounded: T = JSON.parse(JSON.stringify(schema), (key, value) =>
    key === 'maxItems' ? undefined : value,
  );
  return compile(unbounded);
}

type ReadResult<Answer> = { ok: true; value: Answer } | { ok: false; faults: string[] };

/** If the answer is invalid, returns its faults in words for the model. */
export function readStructured<Answer>(text: string, check: Validator<Answer>): ReadResult<Answer> {
  const json = extractJson(text);
  if (json === undefined) return { ok: false, faults: ['the answer is not JSON'] };
  const checked = check(json);
  if (!checked.ok) return { ok: false, faults: checked.faults.map(describeFault) };
  return everyText(checked.value, isDisplayable)
    ? checked
    : { ok: false, faults: ['a text holds control characters or is not well-formed'] };
}

function describeFault({ loc, msg }: Fault): string {
  const place = loc.slice(1).join('.');
  return place === '' ? msg : `${place}: ${msg}`;
}

function everyText(root: unknown, passes: (text: string) => boolean): boolean {
  const pendingNodes = [root];
  while (pendingNodes.length > 0) {
    const node = pendingNodes.pop();
    if (typeof node === 'string' && !passes(node)) return false;
    if (typeof node === 'object' && node !== null)
      for (const child of Object.values(node)) pendingNodes.push(child);
  }
  return true;
}

/** Encloses a value as JSON between tags that no text in it can close. */
export function encloseInTag(tag: string, value: object): string {
  return `<${tag}>\n${JSON.stringify(value).replaceAll('<', '\\u003c')}\n</${tag}>`;
}

/**
 * Returns the JSON value in a model's text; undefined if there is none. If the whole text is not JSON, tries the first
 * braces after the thoughts (`<think>`), then the first braces in a code fence. Takes linear time.
 */
export function extractJson(text: string): unknown {
  const whole = parse(text);
  if (whole !== undefined) return whole;
  const answer = afterLast(text, '</think>');
  return firstObject(answer) ?? firstObject(afterFirst(answer, '```'));
}

function firstObject(text: string): unknown {
  const start = text.indexOf('{');
  const end = start < 0 ? -1 : endOfObject(text, start);
  return end < 0 ? undefined : parse(text.slice(start, end));
}

/** Counts braces outside of strings; returns -1 if the object has no end. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isInString) {
      if (char === '\\') at++;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return at + 1;
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function afterLast(text: string, mark: string): string {
  const at = text.lastIndexOf(mark);
  return at < 0 ? text : text.slice(at + mark.length);
}

function afterFirst(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? '' : text.slice(at + mark.length);
}
