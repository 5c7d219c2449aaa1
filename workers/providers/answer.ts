import type { Static, TSchema } from 'typebox';
import { isDisplayable } from '../../shared/domain/model-text.ts';
import type { Fault } from '../../shared/schemas/errors.ts';
import { compile, type Validator } from '../../shared/schemas/validator.ts';
import { stringsIn } from '../../shared/text/codes.ts';

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
  return stringsIn(checked.value).every(isDisplayable)
    ? checked
    : { ok: false, faults: ['a text holds control characters or is not well-formed'] };
}

function describeFault({ loc, msg }: Fault): string {
  const place = loc.slice(1).join('.');
  return place === '' ? msg : `${place}: ${msg}`;
}

/** Encloses a value as JSON between tags that no text in it can close. */
export function encloseInTag(tag: string, value: object): string {
  return `<${tag}>\n${JSON.stringify(value).replaceAll('<', '\\u003c')}\n</${tag}>`;
}

/**
 * Returns the JSON value in a model's text; undefined if there is none. If the whole text is not JSON, tries the braces
 * after the thoughts (`<think>`).
 */
function extractJson(text: string): unknown {
  const whole = parseJson(text);
  return whole === undefined ? objectsIn(afterThoughts(text))[0] : whole;
}

/** Number of braces at which an object is looked for, so that the time stays linear in the text. */
const OBJECT_STARTS_MAX = 16;

/** Returns the JSON objects that a text has side by side. */
export function objectsIn(text: string): unknown[] {
  const objects: unknown[] = [];
  let start = text.indexOf('{');
  for (let tries = 0; start >= 0 && tries < OBJECT_STARTS_MAX; tries++) {
    const end = endOfObject(text, start);
    const object = end < 0 ? undefined : parseJson(text.slice(start, end));
    if (object !== undefined) objects.push(object);
    start = text.indexOf('{', object === undefined ? start + 1 : end);
  }
  return objects;
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

/** Returns undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const THOUGHTS_END = /<\/(?:think(?:ing)?|thoughts?|reasoning|analysis)>|\[\/THINK\]|<\|message\|>/gi;

/** Returns what follows the thoughts, however their end is marked. */
export function afterThoughts(text: string): string {
  const last = [...text.matchAll(THOUGHTS_END)].at(-1);
  return last === undefined ? text : text.slice(last.index + last[0].length);
}
