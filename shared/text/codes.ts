import { UNSPACED_SCRIPTS } from './words.ts';

/** Letters, digits and the marks that join parts of passwords and numbers of orders. */
const RUN_CHARACTERS = `[[\\p{L}\\p{M}\\p{N}_!#$^~\\-]--[${UNSPACED_SCRIPTS}]]+`;
/** Matches a run with what other marks join to it: they end a word, but no password. */
const RUN = new RegExp(`${RUN_CHARACTERS}(?:[&*%+]${RUN_CHARACTERS})*`, 'gv');
const EDGE_MARKS = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const CODE_CHARS_MIN = 6;

/** Words that mix letters and digits and that everybody may use. */
const COMMON_CODES =
  /^(?:python[23]|sqlite3|argon2(?:d|id?)?|base(?:32|64)|sha-?(?:1|256|512)|x86[-_]64|u?(?:int|float)(?:16|32|64|128)|oauth2|iso-?8601|covid-?19|utf-?(?:8|16|32)(?:mb4)?|windows-?(?:7|8|1[01])|es20[12]\d|gpt-\d\w?)$/;

/**
 * Replaces codes: words of six characters or more that mix letters and digits, such as passwords, numbers of orders and
 * names of machines. Keeps those that are `visible` to the reader anyway.
 */
export function replaceCodes(text: string, marker: string, visible: ReadonlySet<string> = new Set()): string {
  return text.replace(RUN, (run) => (codesOf(run).every((code) => visible.has(code)) ? run : marker));
}

/** Collects the codes in all strings of a value of JSON. */
export function codesIn(value: unknown): Set<string> {
  const runs = stringsIn(value).flatMap((text) => text.match(RUN) ?? []);
  return new Set(runs.flatMap(codesOf));
}

/** Lists all strings of a value of JSON, in their order. Does not recurse: a model or an agent may nest it deeply. */
export function stringsIn(value: unknown): string[] {
  const strings: string[] = [];
  const pending = [value];
  while (pending.length > 0) {
    const part = pending.pop();
    if (typeof part === 'string') strings.push(part);
    else if (typeof part === 'object' && part !== null)
      for (const inner of Object.values(part).reverse()) pending.push(inner);
  }
  return strings;
}

/** Replaces codes in all strings of a value of JSON. */
export function withoutCodes<Value>(value: Value, visible: ReadonlySet<string>): Value {
  return changeStrings(value, (text) => replaceCodes(text, '[masked code]', visible));
}

/** Changes all strings of a value of JSON. */
export function changeStrings<Value>(value: Value, change: (text: string) => string): Value {
  if (typeof value === 'string') return change(value) as Value;
  if (Array.isArray(value)) return value.map((part) => changeStrings(part, change)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const parts = Object.entries(value).map(([name, part]) => [name, changeStrings(part, change)]);
  return Object.fromEntries(parts) as Value;
}

/** Returns the codes that a run is made of, in lower case and without marks at their ends. */
function codesOf(run: string): string[] {
  return run.split(/[&*%+]/).flatMap((part) => {
    if (part.length < CODE_CHARS_MIN || !/\p{Nd}/u.test(part) || !/\p{L}/u.test(part)) return [];
    const code = part.replace(EDGE_MARKS, '').toLowerCase();
    return [...code].length < CODE_CHARS_MIN || COMMON_CODES.test(code) ? [] : [code];
  });
}
