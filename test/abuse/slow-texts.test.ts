import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { recordOf } from '../support/facts-promotion.ts';
import { bySchema, message, ok, type ProviderCall, type Step, structured } from '../support/fake-provider.ts';
import { add } from '../support/memory.ts';
import { callUntil } from '../support/paced-until.ts';
import { promote, say, writeEpisode } from '../support/promotion.ts';
import { inputsOf, predictBatch, predictReply, proposeReplies } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';

/**
 * Maximum duration of an app's call while a worker handles such a text. Without bounds, it would take several
 * seconds.
 */
const LATENCY_MAX_MS = 1000;

/** Makes a text that a naive Unicode normalization sorts in quadratic time. */
const marks = (count: number) => `a${'\u0301'.repeat(count / 2)}${'\u0327'.repeat(count / 2 - 1)}`;
/** Makes a text of words that no other text has. */
const wordsOf = (seed: number, characters: number) =>
  createHash('shake256', { outputLength: characters })
    .update(`${seed}`)
    .digest('base64')
    .replaceAll(/[+/]/g, ' ')
    .slice(0, characters);

/** Returns the array types in a schema that have no `maxItems`. */
function unboundedArrays(node: unknown): unknown[] {
  if (typeof node !== 'object' || node === null) return [];
  const isOpen = 'type' in node && node.type === 'array' && !('maxItems' in node);
  return [...(isOpen ? [node] : []), ...Object.values(node).flatMap(unboundedArrays)];
}

describe('texts that are slow to compare', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { PREDICTION_TIMEOUT_MS: '20000', PROVIDER_TIMEOUT_MS: '20000' },
  });
  let ann: UserClient;
  let app: AppClient;
  before(async () => {
    app = await system.app();
    // The first calls of new processes, and the first statements of new connections, take long by themselves.
    ann = await signUp(system);
    system.provider.respond(bySchema({ reply: proposeReplies([{ response: 'Blue' }]) }));
    await Promise.all([
      ...Array.from({ length: 40 }, () => app.predict(predictionBody())),
      ...Array.from({ length: 5 }, () => predictReply(ann, { k: 5 })),
    ]);
  });
  beforeEach(async () => {
    ann = await signUp(system);
    system.provider.reset();
  });

  async function slowestCallDuring(work: Promise<unknown>): Promise<number> {
    const times = await callUntil(20, async () => (await app.predict(predictionBody())).tookMs, work);
    return Math.max(...times);
  }

  it("a provider's answer of 250 reply candidates of 2 to 4 kB delays no other call by a second", async () => {
    const candidates = Array.from({ length: 250 }, (_, n) => ({ response: wordsOf(n, 2000 + 8 * n) }));
    system.provider.respond(bySchema({ reply: proposeReplies(candidates) }));
    const asked = predictReply(ann, { k: 5 });
    const slowest = await slowestCallDuring(asked);
    const { status, body, tookMs } = await asked;
    assert.deepEqual([status, body.candidates.length], [200, 5]);
    assert.ok(tookMs < 2 * LATENCY_MAX_MS, `answered after ${tookMs} ms`);
    assert.ok(slowest < LATENCY_MAX_MS, `another call took ${slowest} ms`);
  });

  it("a provider's answer of 40 facts with 320 long quotes delays no other call by a second", async () => {
    const rows = await say(
      ann,
      Array.from({ length: 5 }, (_, n) => `${n} ${'a '.repeat(3990)}`),
    );
    await add(ann, 'episodes', { title: 'A', summary: 'A', raw_ids: rows.map(({ id }) => id) });
    const quote = `${'a '.repeat(1500)}b`;
    const facts = Array.from({ length: 40 }, (_, n) => ({
      evidence: Array.from({ length: 8 }, (_, at) => ({ source: 1 + (at % 5), quote })),
      text: wordsOf(n, 300),
      kind: 'other',
      slot: null,
      valid_from: null,
      valid_to: null,
      relation: 'new',
      target: null,
      salience: 3,
    }));
    system.provider.respond(
      bySchema({
        facts: structured((call) => {
          assert.equal(recordOf(call).episodes[0]?.rows.length, 5);
          return { facts };
        }),
      }),
    );
    const promoted = promote(ann, 'facts');
    const slowest = await slowestCallDuring(promoted);
    const { body } = await promoted;
    assert.deepEqual([body.considered, body.created], [1, 0]);
    assert.ok(slowest < LATENCY_MAX_MS, `another call took ${slowest} ms`);
  });

  it('while a prompt of 64,000 combining marks is handled, every call of another app takes less than 1 s', async () => {
    system.provider.respond(bySchema({ reply: proposeReplies([{ response: 'Blue' }]) }));
    const asked = predictReply(ann, { agent_input: marks(64_000) });
    const slowest = await slowestCallDuring(asked);
    assert.equal((await asked).status, 200);
    assert.ok(slowest < LATENCY_MAX_MS, `another call took ${slowest} ms`);
  });

  it('while a completion of 100,000 combining marks is handled, every call of another app takes less than 1 s', async () => {
    const isLong = (draft: string) => draft.startsWith('Long');
    system.provider.respond((response, call) =>
      ok({ continuation: isLong(call.record.draft) ? marks(100_000) : ' now' })(response, call),
    );
    const asked = (await system.app()).predict(predictionBody({ draft: { text: 'Long: ', revision: 1 } }));
    const slowest = await slowestCallDuring(asked);
    assert.equal((await asked).status, 200);
    assert.ok(slowest < LATENCY_MAX_MS, `another call took ${slowest} ms`);
  });

  it('every call to a provider limits the tokens of its answer and the items of each list in the answer', async () => {
    const malformed = message({ content: 'Certainly!' });
    const isRepair = ({ body }: ProviderCall) => body.messages?.at(-2)?.role === 'assistant';
    const repaired =
      (step: Step): Step =>
      (response, call) =>
        (isRepair(call) ? step : malformed)(response, call);
    system.provider.respond(
      bySchema({
        reply: repaired(proposeReplies([{ response: 'Blue' }])),
        episode: repaired(writeEpisode()),
        facts: repaired(structured({ facts: [] })),
      }),
    );
    await say(ann, ['I use pnpm', 'I live in Oslo']);
    await add(ann, 'episodes', { title: 'Tea', summary: 'About tea' });
    assert.equal((await app.predict(predictionBody())).status, 200);
    assert.equal((await predictReply(ann, { k: 3 })).status, 200);
    assert.equal((await predictBatch(ann, inputsOf(2))).status, 200);
    assert.equal((await promote(ann, 'episodes')).status, 200);
    assert.equal((await promote(ann, 'facts')).status, 200);
    const { calls } = system.provider;
    assert.deepEqual([calls.length, calls.filter(isRepair).length], [11, 5]);
    for (const { schema, body } of calls) {
      const limit = body['max_tokens'];
      assert.ok(Number.isInteger(limit) && Number(limit) > 0 && Number(limit) <= 4096, `${schema}: ${limit}`);
      assert.deepEqual(unboundedArrays(body['response_format']), [], schema);
    }
  });
});
