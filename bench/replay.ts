import { Agent, request } from 'node:http';
import { setUp } from '../test/setup.ts';
import { percentile } from '../test/support/keep-alive-client.ts';
import { startProcesses } from '../test/support/system.ts';
import { startChild } from './child.ts';
import { requestText } from './request.ts';

/** Compares the time of replaying a finished prediction with that of `GET /healthz`, on one kept-alive connection. */
const SAMPLES = 2000;
const WARM_UP_CALLS = 300;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

async function timeCall(url: string, body?: string, key = ''): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const headers = body && {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const since = performance.now();
  request(url, { method: body ? 'POST' : 'GET', agent, ...(headers && { headers }) }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`));
    response.resume().once('end', resolve).once('error', reject);
  })
    .once('error', reject)
    .end(body);
  await promise;
  return performance.now() - since;
}

await using _ = await setUp();
await using provider = await startChild('replay-provider', 'bench/provider.ts');
await using system = await startProcesses({
  env: { OPENAI_BASE_URL: `${provider.url}/v1`, SANDBOX_UNITS: '1000000000', LEASE_MS: '' },
});
const { url, key } = await system.app();
const times = { replay: [] as number[], healthz: [] as number[] };
for (let n = -WARM_UP_CALLS; n < SAMPLES; n += 1) {
  const replay = await timeCall(`${url}/v1/predictions`, requestText('replayed'), key);
  const healthz = await timeCall(`${url}/healthz`);
  // The warm-up calls do not count: the first one is the prediction itself, not a replay.
  if (n >= 0) times.replay.push(replay);
  if (n >= 0) times.healthz.push(healthz);
}
const [replay, healthz] = [percentile(times.replay, 0.95), percentile(times.healthz, 0.95)];
process.stdout.write(
  `${JSON.stringify({ replayP95Ms: replay.toFixed(2), healthzP95Ms: healthz.toFixed(2), ratio: (replay / healthz).toFixed(1) })}\n`,
);
