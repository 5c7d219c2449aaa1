import assert from 'node:assert/strict';
import { haveSameMeaning } from '../../../shared/text/meaning.ts';

const REPLY =
  'Please restart the staging server on port 8080 and tell me when the checks of the new release have passed';
const keepsMeaning = (from: string, to: string) => haveSameMeaning(REPLY, REPLY.replace(from, to));

describe('meaning of replies', () => {
  it('replies in nearly the same words have the same meaning, whether they are long or short', () => {
    assert.ok(keepsMeaning('tell me', 'tell me then'));
    assert.ok(haveSameMeaning('Yes, go ahead!', 'yes, go ahead'));
    assert.ok(!haveSameMeaning('Yes, go ahead!', 'Yes, wait'));
  });

  it('long replies that differ in a number or a negation do not have the same meaning', () => {
    for (const [from, to] of [
      ['8080', '8081'],
      ['port 8080', 'port'],
      ['Please', 'Please do not'],
      ['have passed', "haven't passed"],
    ] as const)
      assert.ok(!keepsMeaning(from, to), to);
    const move = (from: number, to: number) =>
      `Move the requests of all of the customers in Europe from port ${from} to port ${to} during this night, please`;
    assert.ok(!haveSameMeaning(move(8080, 8081), move(8081, 8080)));
  });
});
