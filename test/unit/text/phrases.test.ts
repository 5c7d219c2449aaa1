import assert from 'node:assert/strict';
import { isWordStart, phrasesOf } from '../../../shared/text/phrases.ts';

describe('phrases of a text', () => {
  it('a text has at most 400 phrases, which is enough for a usual English text of 2000 characters', () => {
    assert.equal(phrasesOf('学'.repeat(2000)).length, 400);
    assert.equal(phrasesOf('a '.repeat(1000)).length, 400);
    const english = 'Please write the minutes of our meeting, and send them to everybody. '.repeat(28);
    assert.equal(phrasesOf(english).at(-1)?.words, 'everybody.');
  });
});

describe('codes', () => {
  const ofText = (word: string) => phrasesOf(`please use ${word} for staging`).map(({ words }) => words);
  const CODES = [
    'hunter2',
    'kdk32xq9',
    'XK7-9QP',
    'blue-Falcon-7!',
    'Sommer24',
    'PROJ-1234',
    'кодовое7',
    '9lives',
    'Tr0ub4dor&Falcon!',
  ];
  for (const code of CODES)
    it(`a word that mixes letters and digits, such as ${code}, is in no phrase, nor do phrases lead to it`, () => {
      const found = ofText(code);
      assert.ok(found.includes('please use'));
      assert.ok(found.every((words) => !/\d|falcon/.test(words)));
    });
  for (const word of [
    'v2.1',
    'utf-8',
    'python3',
    'sha256',
    '25-11',
    'k8s',
    'argon2id',
    'h264',
    '第3章のテスト',
    '10am',
  ])
    it(`a short or common word such as ${word} stays in phrases`, () => {
      assert.equal(ofText(word)[1], `please use ${word.toLowerCase()} for staging`);
    });
});

describe('word start', () => {
  for (const [text, starts] of [
    ['on it', [0, 3]],
    ["it's", [0, 3]],
    ['a学b学', [0, 1, 3]],
    // Letters of two UTF-16 units each: two of Deseret, and a Chinese one.
    ['\u{10400}\u{10428}', [0]],
    ['a\u{20000}', [0, 1]],
  ] as const)
    it(`words of ${JSON.stringify(text)} may start at ${starts.join(', ')}`, () => {
      const places = [...text.matchAll(/./gu)].map(({ index }) => index);
      assert.deepEqual(
        places.filter((at) => isWordStart(text, at)),
        starts,
      );
    });
});
