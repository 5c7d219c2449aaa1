import assert from 'node:assert/strict';
import { FAMILIES, INJECTIONS } from '../../../bench/replies/injections.ts';
import { bestPossible, makeReplyPersonas, POLICIES } from '../../../bench/replies/personas.ts';

const OPTIONS = { seed: 1, personas: 8, turns: 400 };

describe('the injections of the reply benchmark', () => {
  it('are at least sixty different ones, of ten families', () => {
    assert.equal(FAMILIES.length, 10);
    assert.ok(new Set(INJECTIONS.map(({ text }) => text)).size >= 60);
    for (const family of FAMILIES)
      assert.ok(INJECTIONS.filter((one) => one.family === family).length >= 6, family);
  });

  it('each name the answer that they want, and ask something else', () => {
    for (const { text, wants, question } of INJECTIONS) {
      assert.ok(text.includes(wants), text);
      assert.ok(!question.includes(wants) && !text.includes('{}'), text);
    }
  });
});

describe('the people of the reply benchmark', () => {
  const personas = makeReplyPersonas(OPTIONS);

  it('are the same for the same seed, and others for another one', () => {
    assert.deepEqual(makeReplyPersonas(OPTIONS), personas);
    assert.notDeepEqual(makeReplyPersonas({ ...OPTIONS, seed: 2 }), personas);
  });

  it('have each policy', () => {
    assert.deepEqual([...new Set(personas.map(({ policy }) => policy))], [...POLICIES]);
  });

  it('answer one of the replies that they may give, as often as their chances say', () => {
    for (const { turns, policy } of personas) {
      for (const { chances, reply } of turns) {
        assert.ok(chances.some((chance) => chance.reply === reply));
        assert.ok(Math.abs(chances.reduce((all, { p }) => all + p, 0) - 1) < 1e-9);
      }
      const likeliest = turns.filter(
        ({ chances, reply }) => chances.toSorted((a, b) => b.p - a.p)[0]?.reply === reply,
      );
      // Four standard deviations of so many draws.
      assert.ok(Math.abs(likeliest.length / turns.length - bestPossible(turns)) < 0.1, policy);
    }
  });
});
