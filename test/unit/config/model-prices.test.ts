import assert from 'node:assert/strict';
import { Env } from '../../../shared/config/env.ts';
import { readProviderSettings } from '../../../shared/config/provider.ts';
import { costOf } from '../../../shared/domain/provider-call.ts';

function read(MODEL_PRICES: string) {
  const env = new Env({ MODEL_PRICES });
  return { ...readProviderSettings(env), faults: env.faults };
}

describe('model prices', () => {
  it("MODEL_PRICES gives each model's price in US dollars per million input tokens and per million output tokens", () => {
    const { prices } = read('small=0.15:0.60, llama3:8b=0:0,ft=x:y=2.5:10');
    assert.deepEqual(
      [...prices],
      [
        ['small', { input: 15, output: 60 }],
        ['llama3:8b', { input: 0, output: 0 }],
        ['ft=x:y', { input: 250, output: 1000 }],
      ],
    );
    // A million input tokens and a million output tokens together cost 75 cents.
    const million = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
    assert.equal(costOf(prices.get('small'), million), 75_000_000);
    assert.equal(costOf(prices.get('large'), million), null);
    assert.equal(costOf({ input: 0.5, output: 0 }, { inputTokens: 1, outputTokens: 0 }), 1);
    // 0.07 × 100 is a little more than 7 in floating point.
    const exact = read('m=0.07:0.29').prices.get('m');
    assert.equal(costOf(exact, { inputTokens: 1, outputTokens: 0 }), 7);
    assert.equal(costOf(exact, { inputTokens: 0, outputTokens: 100 }), 2900);
  });

  it('MODEL_PRICES is refused if it is malformed or names a model twice', () => {
    for (const value of ['m', 'm=1', 'm=1:', '=1:2', 'm=-1:2', 'm=1:2:3', 'm=1e3:2', 'm=1:2,', 'm=1:2,m=1:2'])
      assert.match(read(value).faults.join(), /^MODEL_PRICES/, value);
  });
});
