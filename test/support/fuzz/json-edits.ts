import fc from 'fast-check';
import type { Json } from './document.ts';

/** An edit of a JSON text, which can do what no edit of its value could, such as repeat a member. */
export interface JsonEdit {
  /** Index of a value, in the order of the text, modulo the number of values. */
  at: number;
  /**
   * `insert` adds the text inside a value under a name; `repeat` repeats a member with the text. Every kind replaces a
   * value that is no object or list.
   */
  kind: 'replace' | 'insert' | 'drop' | 'repeat';
  /** Member name, as a JSON string. */
  name: string;
  text: string;
}

const nested = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

/** Odd but legal JSON texts, and some illegal ones. */
const TEXTS = [
  ...'null true [] {} "" 0 -0 -1 0.5 1e0 1E400 -1e400 1e-400 9007199254740993'.split(' '),
  '1'.repeat(400),
  ...String.raw`"\u0000" "a\u0000b" "\ud800" "\udc00\ud800" "\ud83d\ude00" "\uD83D"`.split(' '),
  '"\u007f\u0080"',
  ...'"2026-02-30T00:00:00Z" "00000000-0000-0000-0000-000000000000"'.split(' '),
  ...'{"__proto__":{"admin":true}} {"constructor":{"prototype":{"admin":true}}}'.split(' '),
  '{"toString":null,"hasOwnProperty":1,"length":-1,"then":{}}',
  ...'{"$ne":null} [null] [[],[[]],{"":{}}]'.split(' '),
  nested('[', ']', 64),
  nested('[', ']', 65),
  nested('{"a":', '}', 40).replace('}', '1}'),
  nested('[', ']', 5000),
  `[${'0,'.repeat(1500)}0]`,
  `{${Array.from({ length: 300 }, (_, n) => `"k${n}":0`).join()}}`,
  `"${'x'.repeat(300)}"`,
  ...`NaN Infinity undefined 01 +1 .5 1. 0x10 'x'`.split(' '),
  '"\t"',
  ...String.raw`"\x41" "\u12" [1,] {"a":1,} /**/1`.split(' '),
  '',
];

const NAMES = [
  ...'"__proto__" "constructor" "prototype" "toString" "hasOwnProperty" "length" "then" ""'.split(' '),
  ...String.raw`"0" "a/b~c" "\u0000" "\ud800" "User_Id" "password" "x"`.split(' '),
  `"${'k'.repeat(5000)}"`,
  'unquoted',
];

export const jsonEdits: fc.Arbitrary<JsonEdit[]> = fc.array(
  fc.record({
    at: fc.nat(200),
    kind: fc.constantFrom('replace', 'replace', 'replace', 'insert', 'insert', 'drop', 'repeat'),
    name: fc.constantFrom(...NAMES),
    text: fc.constantFrom(...TEXTS),
  }),
  { minLength: 1, maxLength: 3 },
);

export function applyJsonEdits(value: Json, edits: readonly JsonEdit[]): string {
  const total = sizeOf(value);
  const byPlace = new Map(edits.map((edit) => [edit.at % total, edit]));
  let place = -1;
  const write = (node: Json): string => {
    place += 1;
    const edit = byPlace.get(place);
    const isLeaf = typeof node !== 'object' || node === null;
    if (edit !== undefined && (isLeaf || edit.kind === 'replace')) {
      place += sizeOf(node) - 1;
      return edit.text;
    }
    if (isLeaf) return JSON.stringify(node);
    if (Array.isArray(node)) return `[${editList(node.map(write), edit).join()}]`;
    const members = Object.entries(node).map(
      ([name, one]) => [JSON.stringify(name), write(one)] satisfies [string, string],
    );
    return `{${editMembers(members, edit)
      .map(([name, text]) => `${name}:${text}`)
      .join()}}`;
  };
  return write(value);
}

function editList(items: string[], edit: JsonEdit | undefined): string[] {
  if (edit === undefined) return items;
  return edit.kind === 'drop' ? items.slice(1) : [...items, edit.text];
}

function editMembers(members: [string, string][], edit: JsonEdit | undefined): [string, string][] {
  if (edit === undefined) return members;
  const one = edit.at % Math.max(1, members.length);
  const [name] = members[one] ?? [edit.name];
  switch (edit.kind) {
    case 'drop':
      return members.toSpliced(one, 1);
    case 'repeat':
      return [...members, [name, edit.text]];
    default:
      return members.toSpliced(one, 0, [edit.name, edit.text]);
  }
}

function sizeOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + sizeOf(one), 1);
}
