import assert from 'node:assert/strict';
import { signUp } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { bySchema, ok } from '../support/fake-provider.ts';
import { callUntil } from '../support/paced-until.ts';
import { predictReply, proposeReplies } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';

/** Makes a text that a naive Unicode normalization sorts in quadratic time. */
const marks = (count: number) => `a${'\u0301'.repeat(count / 2)}${'\u0327'.repeat(count / 2 - 1)}`;
const LATENCY_MAX_MS = 1000;

describe('text of combining marks', function () {
  this.timeout(60_000);
  const system = useSystem({ env: { PREDICTION_TIMEOUT_MS: '20000' } });

  async function slowestCallDuring(work: Promise<unknown>): Promise<number> {
    const app = await system.app();
    const times = await callUntil(20, async () => (await app.predict(predictionBody())).tookMs, work);
    return Math.max(...times);
  }

  it('while a prompt of 32,000 combining marks is handled, every call of another app takes less than 1 s', async () => {
    const ann = await signUp(system);
    system.provider.respond(bySchema({ reply: proposeReplies([{ response: 'Blue' }]) }));
    const asked = predictReply(ann, { agent_input: marks(32_000) });
    const slowest = await slowestCallDuring(asked);
    assert.equal((await asked).status, 200);
    assert.ok(slowest < LATENCY_MAX_MS, `another call took ${slowest} ms`);
  });

  it('while a completion of 100,000 combining marks is handled, every call of another app takes less than 1 s', async () => {
    const app = await system.app();
    const isLong = (draft: string) => draft.startsWith('Long');
    system.provider.respond((response, call) =>
      ok({ continuation: isLong(call.record.draft) ? marks(100_000) : ' now' })(response, call),
    );
    const asked = app.predict(predictionBody({ draft: { text: 'Long: ', revision: 1 } }));
    const slowest = await slowestCallDuring(asked);
    assert.equal((await asked).status, 200);
    assert.ok(slowest < LATENCY_MAX_MS, `another call took ${slowest} ms`);
  });
});
