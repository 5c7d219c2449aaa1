/** A value as JSON between tags that no text in it can close. */
export function enclosed(tag: string, value: object): string {
  return `<${tag}>\n${JSON.stringify(value).replaceAll('<', '\\u003c')}\n</${tag}>`;
}

/**
 * The JSON value in what a model wrote: the whole text, else the first object after its thoughts (`<think>`), with
 * whatever is around it, such as a code fence. Undefined when there is none. Linear in the text's length.
 */
export function jsonIn(text: string): unknown {
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

/** Where the object that begins at `start` ends, by its balanced braces outside of strings; -1 if it does not. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (quoted) {
      if (sign === '\\') at++;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === '{') depth++;
    else if (sign === '}' && --depth === 0) return at + 1;
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
