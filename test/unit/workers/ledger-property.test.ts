import assert from 'node:assert/strict';
import Type from 'typebox';
import { parseModelPrices } from '../../../shared/config/provider.ts';
import type { LedgerEntry } from '../../../shared/db/stores/provider-calls.ts';
import { costOf } from '../../../shared/domain/provider-call.ts';
import { newId } from '../../../shared/ids.ts';
import { closedObject } from '../../../shared/schemas/build.ts';
import { compile } from '../../../shared/schemas/validator.ts';
import { withLedger } from '../../../workers/providers/ledger.ts';
import { ProviderError } from '../../../workers/providers/provider.ts';
import { createProviders } from '../../../workers/providers/providers.ts';
import { anyCharge } from '../../support/charge.ts';
import * as fake from '../../support/fake-provider.ts';

const PRICES = parseModelPrices('first=0.07:0.29,second=2.5:10') ?? new Map();
const Colour = closedObject({ name: Type.String() });
const question = {
  name: 'colour',
  messages: [{ role: 'user', content: 'Name a colour.' }] as const,
  schema: Colour,
  check: compile(Colour),
  maxTokens: 300,
};

/** A provider's answer. `counted` is undefined if no tokens are charged, null if the provider states none. */
interface ScriptedAnswer {
  outcome: string;
  counted: [input: number, output: number] | null | undefined;
  step: fake.Step;
}

function answer(outcome: string, message: object, finish = 'stop'): (n: number) => ScriptedAnswer {
  return (n) => ({
    outcome,
    counted: [n, n + 1],
    step: fake.json({
      choices: [{ index: 0, message, finish_reason: finish }],
      usage: { prompt_tokens: n, completion_tokens: n + 1 },
    }),
  });
}

function uncountedAnswer(outcome: string, message: object, usage: unknown): () => ScriptedAnswer {
  const step = fake.json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage });
  return () => ({ outcome, counted: null, step });
}

const ANSWERS: ((n: number) => ScriptedAnswer)[] = [
  answer('answered', { content: '{"name":"red"}' }),
  answer('answered', { content: '{"name":7}' }),
  answer('answered', { content: 'red' }),
  answer('refused', { content: null, refusal: 'no' }),
  answer('cut_off', { content: '{"na' }, 'length'),
  answer('unusable', { content: 7 }),
  uncountedAnswer('answered', { content: '{"name":"red"}' }, undefined),
  uncountedAnswer('answered', { content: 'red' }, null),
  uncountedAnswer('refused', { content: null, refusal: 'no' }, {}),
  uncountedAnswer('unusable', { content: 7 }, { prompt_tokens: '12', completion_tokens: -1 }),
  () => ({ outcome: 'unusable', counted: null, step: fake.truncatedJson() }),
  () => ({ outcome: 'unusable', counted: null, step: fake.reset() }),
  () => ({ outcome: 'timeout', counted: null, step: fake.hang() }),
  () => ({ outcome: 'failed', counted: undefined, step: fake.status(500) }),
  () => ({ outcome: 'failed', counted: undefined, step: fake.status(400, {}, 'no json_schema here') }),
  () => ({ outcome: 'rate_limited', counted: undefined, step: fake.status(429) }),
  () => ({ outcome: 'not_configured', counted: undefined, step: fake.status(401) }),
];

describe('ledger', () => {
  const server = fake.useFakeProvider();

  it('for any sequence of answers, the ledger has one row per provider request, with its model, tokens and cost', async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < 80; round++) {
      const rows: LedgerEntry[] = [];
      const given: ScriptedAnswer[] = [];
      server.reset();
      server.respond((response, call) => {
        const scripted = (ANSWERS[Math.floor(Math.random() * ANSWERS.length)] ?? fail)(round + call.index);
        given.push(scripted);
        return scripted.step(response, call);
      });
      const { ask } = createProviders({
        openai: { apiKey: 'sk-x', baseUrl: server.url },
        fallbackModels: ['second'],
        around: (chat) => withLedger(chat, { add: (row) => void rows.push(row) }, PRICES),
      })('first');
      const charge = { ...anyCharge, appId: newId(), workId: newId() };
      const { signal } = new AbortController();
      const answered = await ask?.(question, { model: 'first', signal, timeoutMs: 300, charge }).catch(
        (error: unknown) => {
          assert.ok(error instanceof ProviderError);
        },
      );

      const seen = `${JSON.stringify(given.map(({ outcome }) => outcome))} ${JSON.stringify(rows)}`;
      assert.equal(rows.length, server.calls.length, seen);
      for (const [n, row] of rows.entries()) {
        const { outcome, counted } = given[n] ?? fail();
        outcomes.add(row.outcome);
        assert.equal(row.outcome, outcome, seen);
        assert.equal(row.aborted, counted === null, seen);
        if (counted === null) assert.ok(row.input_tokens > 0 && row.output_tokens === 0, seen);
        else assert.deepEqual([row.input_tokens, row.output_tokens], counted ?? [0, 0], seen);
        assert.equal(row.model, server.calls[n]?.body.model, seen);
        assert.deepEqual([row.app_id, row.work_id], [charge.appId, charge.workId]);
        const tokens = { inputTokens: row.input_tokens, outputTokens: row.output_tokens };
        assert.equal(row.cost_microcents, costOf(PRICES.get(row.model), tokens), seen);
      }
      // The usage includes the tokens of a malformed first answer, but not those of failed calls, and no estimates.
      if (answered === undefined) continue;
      const used = rows.filter(
        ({ outcome, aborted }) => (outcome === 'answered' || outcome === 'refused') && !aborted,
      );
      assert.equal(answered.usage.inputTokens, sum(used.map((row) => row.input_tokens)), seen);
      assert.equal(answered.usage.outputTokens, sum(used.map((row) => row.output_tokens)), seen);
    }
    assert.ok(outcomes.size >= 6, [...outcomes].join());
  }).timeout(60_000);
});

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function fail(): never {
  throw new Error('more rows than answers');
}
