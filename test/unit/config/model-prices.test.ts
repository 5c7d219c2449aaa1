import assert from 'node:assert/strict';
import { parseModelPrices } from '../../../shared/config/model-prices.ts';
import { costOf } from '../../../shared/domain/provider-call.ts';

describe('the prices of models', () => {
  it('are dollars per million tokens, in and out, by model', () => {
    const prices = parseModelPrices('small=0.15:0.60, llama3:8b=0:0,ft=x:y=2.5:10');
    assert.deepEqual(
      [...(prices ?? [])],
      [
        ['small', { input: 15, output: 60 }],
        ['llama3:8b', { input: 0, output: 0 }],
        ['ft=x:y', { input: 250, output: 1000 }],
      ],
    );
    // A million tokens each way for 75 cents.
    const million = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
    assert.equal(costOf(prices?.get('small'), million), 75_000_000);
    assert.equal(costOf(prices?.get('large'), million), null);
    assert.equal(costOf({ input: 0.5, output: 0 }, { inputTokens: 1, outputTokens: 0 }), 1);
  });

  it('are refused when malformed or given twice', () => {
    for (const value of ['m', 'm=1', 'm=1:', '=1:2', 'm=-1:2', 'm=1:2:3', 'm=1e3:2', 'm=1:2,', 'm=1:2,m=1:2'])
      assert.equal(parseModelPrices(value), undefined, value);
  });
});
