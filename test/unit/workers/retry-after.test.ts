import assert from 'node:assert/strict';
import { retryAfterMs } from '../../../workers/providers/openai.ts';

const HOUR_MS = 60 * 60 * 1000;
const LONGEST_MS = 600_000;
const httpDate = (ms: number) => new Date(Date.now() + ms).toUTCString();

describe('provider Retry-After', () => {
  const cases: [name: string, headers: Record<string, string>, ms: number | undefined][] = [
    ['no value', {}, undefined],
    ['seconds', { 'retry-after': '3' }, 3000],
    ['a fraction of a second', { 'retry-after': '0.25' }, 250],
    [
      "OpenAI's more precise retry-after-ms beside it",
      { 'retry-after': '3', 'retry-after-ms': '2750' },
      2750,
    ],
    ['zero', { 'retry-after': '0' }, undefined],
    ['a day', { 'retry-after': '86400' }, LONGEST_MS],
    ['more than a number can hold', { 'retry-after': '9'.repeat(400) }, LONGEST_MS],
    ['a date an hour ago', { 'retry-after': httpDate(-HOUR_MS) }, undefined],
    ['a date in a year', { 'retry-after': httpDate(365 * 24 * HOUR_MS) }, LONGEST_MS],
    [
      "a date by a provider's clock that is an hour ahead",
      { date: httpDate(HOUR_MS), 'retry-after': httpDate(HOUR_MS + 30_000) },
      30_000,
    ],
    ['a date and a broken clock', { date: 'now', 'retry-after': httpDate(-HOUR_MS) }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['the words `soon 2099`', { 'retry-after': 'soon 2099' }, undefined],
    ['the words `in 2099`', { 'retry-after': 'in 2099' }, undefined],
    ['two values', { 'retry-after': '3, 5' }, undefined],
    ['garbage', { 'retry-after': '\u00ff=;' }, undefined],
    ['garbage in milliseconds beside valid seconds', { 'retry-after-ms': '1e99', 'retry-after': '2' }, 2000],
  ];
  for (const [name, headers, ms] of cases)
    it(`a provider's Retry-After with ${name} gives ${ms === undefined ? 'no pause' : `a pause of ${ms} ms`}`, () => {
      assert.equal(retryAfterMs(new Headers(headers)), ms);
    });

  it("a provider's Retry-After with a date in the obsolete format gives the pause until that date", () => {
    const ms = retryAfterMs(
      new Headers({
        date: 'Sunday, 06-Nov-94 08:49:37 GMT',
        'retry-after': 'Sunday, 06-Nov-94 08:49:47 GMT',
      }),
    );
    assert.equal(ms, 10_000);
  });
});
