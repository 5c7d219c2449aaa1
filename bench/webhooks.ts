import { createServer } from 'node:http';
import { signUp, type UserClient } from '../test/support/account.ts';
import { startFakeProvider } from '../test/support/fake-provider.ts';
import { percentile } from '../test/support/keep-alive-client.ts';
import { listen } from '../test/support/listening.ts';
import { predictSuccessfully, proposeReplies } from '../test/support/replies.ts';
import type { System } from '../test/support/system.ts';
import { makeWebhook } from '../test/support/webhooks.ts';
import { install, startProduct } from './installation.ts';
import { openPostgres } from './stores.ts';

const ROUNDS = 20;
const CALLS_PER_ROUND = 50;

/**
 * By hand: what a webhook costs the predictions that it reports. Two people ask in turn, all predictions are escalated,
 * and one of them has a webhook for that.
 */
async function run(): Promise<string[]> {
  await using resources = new AsyncDisposableStack();
  const postgres = resources.use(await openPostgres());
  const { databaseUrl } = resources.use(await install(postgres.url, 'bench'));
  const provider = resources.use(await startFakeProvider());
  provider.respond(proposeReplies([{ response: 'Blue' }]));
  let attempts = 0;
  const receiver = createServer((request, response) => {
    attempts += 1;
    request.resume();
    response.end();
  });
  const { url } = resources.use(await listen(receiver));
  const env = { DATABASE_URL: databaseUrl, ALLOW_PRIVATE_ADDRESSES: 'true' };
  const { web } = await startProduct(resources, {
    name: 'webhooks',
    providerUrl: provider.url.replace(/\/v1$/, ''),
    queuePrefix: 'bench',
    pool: 'all',
    env: { web: env, worker: env },
  });

  const system = { webs: [web] } as unknown as Pick<System, 'webs'>;
  const [bare, reported] = [await signUp(system), await signUp(system)];
  await makeWebhook(reported, { url, events: ['prediction.escalated'] });
  const times = new Map<UserClient, number[]>([
    [bare, []],
    [reported, []],
  ]);
  // The first round warms up.
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [person, taken] of times) {
      for (let call = 0; call < CALLS_PER_ROUND; call += 1) {
        const since = performance.now();
        await predictSuccessfully(person);
        if (round >= 0) taken.push(performance.now() - since);
      }
    }
  }
  const lines = [0.5, 0.95].map((share) => {
    const [without = 0, withOne = 0] = [...times.values()].map((taken) => percentile(taken, share));
    return `p${share * 100}: ${without.toFixed(1)} ms without a webhook, ${withOne.toFixed(1)} with one, ${(withOne / without).toFixed(2)} times`;
  });
  return [`${ROUNDS * CALLS_PER_ROUND} predictions of each, ${attempts} attempts at the webhook`, ...lines];
}

process.stdout.write(`${(await run()).join('\n')}\n`);
