import assert from 'node:assert/strict';
import { phrasesOf } from '../../../shared/text/phrases.ts';

describe('phrases of a text', () => {
  it('a text has at most 400 phrases, which is enough for a usual English text of 2000 characters', () => {
    assert.equal(phrasesOf('学'.repeat(2000)).length, 400);
    assert.equal(phrasesOf('a '.repeat(1000)).length, 400);
    const english = 'Please write the minutes of our meeting, and send them to everybody. '.repeat(28);
    assert.equal(phrasesOf(english).at(-1)?.words, 'everybody.');
  });
});
