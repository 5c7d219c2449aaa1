import assert from 'node:assert/strict';
import { checkStructure } from '../../../ingress/guards/bodies.ts';

/** Number of bytes that are scanned at once. */
const SLICE = 256 * 1024;

/** Counts the values and names of a parsed document. */
function countOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + countOf(item), 1);
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum, item) => sum + 1 + countOf(item), 1);
}

describe('JSON structure check', () => {
  const allows = (text: string, most: number) =>
    checkStructure(Buffer.from(text), most).then(
      () => true,
      () => false,
    );

  const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
  const texts: Record<string, string> = {
    'a scalar': '1',
    'an object': '{"a":1,"b":[true,null,{"c":"x"}]}',
    'brackets, commas and quotes in texts': JSON.stringify({ 'a[{,:"\\': '[[[{{{,,,:::"\\', b: '\\\\"' }),
    'a text over several slices': JSON.stringify([`${',"[\\'.repeat(SLICE / 2)}`, 1]),
    'an escape over the end of a slice': `["${'x'.repeat(SLICE - 3)}\\",,,[[["]`,
    'levels over several slices': `[${' '.repeat(SLICE)}${nested(62)}]`,
    'as many levels as allowed': nested(64),
  };
  for (const [name, text] of Object.entries(texts))
    it(`the JSON structure check counts as many values and names as a JSON parser: ${name}`, async () => {
      const count = countOf(JSON.parse(text));
      assert.deepEqual([await allows(text, count), await allows(text, count - 1)], [true, false]);
    });

  it('the JSON structure check refuses more than 64 levels of nesting, even if they begin far into a text', async () => {
    assert.equal(await allows(nested(66), 1000), false);
    assert.equal(await allows(`[${'1,'.repeat(SLICE)}${nested(64)}]`, 10 * SLICE), false);
  });

  it('the JSON structure check leaves malformed JSON to the parser', async () => {
    for (const text of ['', '"', '"\\', ']]]]', '[', '}{']) assert.equal(await allows(text, 10), true, text);
  });
});
