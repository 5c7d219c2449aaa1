import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay } from '../support/fake-provider.ts';
import { p95 } from '../support/flood.ts';
import { KeepAliveClient } from '../support/keep-alive-client.ts';
import { callUntil } from '../support/paced-until.ts';
import { echoPrompt, inputsOf, predictBatch } from '../support/replies.ts';
import { residentMb } from '../support/resident-memory.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;
const PER_SECOND = 45;
const GROWTH_MB = 300;
/** If large bodies took no turns, they would delay other calls by seconds. */
const DELAY_MAX_MS = 1000;

describe('large bodies', () => {
  // Rate limits are off, as in all tests by default: large bodies cost many points.
  const system = useProcesses({
    workerEntry: ['workers/main.ts', 'all'],
    env: {
      SANDBOX_UNITS: '1000000',
      PREDICTION_TIMEOUT_MS: '30000',
      PROVIDER_TIMEOUT_MS: '20000',
      WORKER_CONCURRENCY: '500',
    },
  });
  let app: AppClient;
  let other: AppClient;
  before(async () => {
    app = await system.app();
    other = await system.app();
  });
  afterEach(() => system.provider.reset());

  const memory = () => residentMb(system.webs[0]?.child.pid);
  const askOther = () => other.predict(predictionBody());

  (process.platform === 'linux' ? it : it.skip)(
    '400 bodies of 3.9 MiB, mostly blanks, take at most 300 MB of the memory of an ingress, and at most 150 MB once they are answered #large-bodies',
    async () => {
      // Makes all calls wait for the provider at the same time.
      system.provider.respond(delay(5000));
      const blanks = Buffer.alloc(3.9 * MIB, ' ');
      const client = new KeepAliveClient(app.key);
      await Promise.all(Array.from({ length: 20 }, askOther));
      const before = await memory();
      const calls = Promise.all(
        Array.from({ length: 400 }, async (_, place) => {
          await sleep((place * 1000) / PER_SECOND);
          return client.predict(
            app.url,
            Buffer.concat([blanks, Buffer.from(JSON.stringify(predictionBody()))]),
          );
        }),
      );
      const most = Math.max(...(await callUntil(10, memory, calls)));
      assert.ok(most - before <= GROWTH_MB, `from ${before} to ${most} MB`);
      // An idle process collects no garbage.
      system.provider.reset();
      await until(async () => {
        await Promise.all(Array.from({ length: 20 }, askOther));
        return (await memory()) - before <= GROWTH_MB / 2;
      }, 30_000);
      client.close();
      for (const { status, code } of await calls)
        assert.ok(status === 200 || code === 'overloaded', `${status} ${code}`);
    },
  );

  it('20 bodies of nearly 16 MiB that one account sends at the same time take at most 300 MB of the memory of an ingress', async () => {
    const before = await memory();

    const user = await signUp(system);
    const row = `["${'x'.repeat(1000)}"]`;
    const batch = `[${Array.from({ length: 1000 }, () => `[${Array.from({ length: 16 }, () => row).join()}]`).join()}]`;
    assert.ok(batch.length > 15 * MIB && batch.length < 16 * MIB);
    const posts = Promise.all(
      Array.from({ length: 20 }, () => user.request('POST', '/api/recording/events/', batch)),
    );
    const most = Math.max(...(await callUntil(10, memory, posts)));
    assert.ok(most - before <= GROWTH_MB, `from ${before} to ${most} MB`);
    for (const { status, code } of await posts)
      assert.ok(status === 200 || code === 'overloaded', `${status} ${code}`);
  });

  const sizes = {
    'bodies of 670 kB': { texts: 14, code: undefined },
    'bodies of 1.4 MB (context_too_large)': { texts: 30, code: 'context_too_large' },
  };
  for (const [name, { texts, code }] of Object.entries(sizes))
    it(`90 concurrent ${name} delay at most one in twenty of another app's calls by more than a second #large-bodies`, async () => {
      const before = await callUntil(20, askOther, sleep(2000));
      const message = { role: 'user', content: '\u0001'.repeat(7900) };
      const messages = Array.from({ length: texts }, () => message);
      // Builds the bodies in advance, so that this process is idle while it sends them.
      const bodies = Array.from({ length: 90 }, () =>
        Buffer.from(JSON.stringify(predictionBody({ messages }))),
      );
      const client = new KeepAliveClient(app.key);
      const large = Promise.all(bodies.map((body) => client.predict(app.url, body)));
      const beside = await callUntil(20, askOther, large);
      client.close();
      assert.ok((await large).some((reply) => reply.code === code));
      assert.ok((await large).every((reply) => [code, 'overloaded'].includes(reply.code)));
      assert.deepEqual([...new Set(beside.map(({ status }) => status))], [200]);
      const [alone, together] = [p95(before), p95(beside)];
      assert.ok(together < alone + DELAY_MAX_MS, `${alone} ms before, ${together} ms beside them`);
    });

  it('a reply batch accepts 100 prompts of 64,000 characters each', async () => {
    system.provider.respond(echoPrompt);
    const inputs = inputsOf(100).map((input) => `${'é'.repeat(64_000 - input.length)}${input}`);
    const { status, body } = await predictBatch(await signUp(system), inputs);
    assert.deepEqual([status, body.succeeded], [200, 100]);
  });

  // The last one, because its batches go on.
  it('8 batches of 13 MB that one account sends at the same time take at most 300 MB of the memory of an ingress', async () => {
    const user = await signUp(system);
    const prompts = Array.from({ length: 100 }, () => ({ agent: 'coder', agent_input: 'é'.repeat(64_000) }));
    const body = JSON.stringify({ prompts });
    const before = await memory();
    const headers = { prefer: 'respond-async' };
    const posts = Promise.all(
      Array.from({ length: 8 }, () =>
        user.request('POST', '/api/predictions/predict/batch/', body, { headers }),
      ),
    );
    const most = Math.max(...(await callUntil(10, memory, posts)));
    for (const { status, code } of await posts)
      assert.ok(status === 202 || code === 'overloaded', `${status} ${code}`);
    assert.ok(
      (await posts).some(({ status }) => status === 202),
      'no worker took a batch',
    );
    assert.ok(most - before <= GROWTH_MB, `from ${before} to ${most} MB`);
  });
});
