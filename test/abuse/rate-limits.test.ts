import assert from 'node:assert/strict';
import type { AppClient, Reply } from '../support/client.ts';
import type { HostedPart } from '../support/hosted.ts';
import { useSystem } from '../support/system.ts';

/** Points of a window that does not end during a test. */
const POINTS = 100;
const WINDOW_S = 100;
/** Points that an ingress may grant before the store has counted them. */
const AHEAD_POINTS = 4;

describe('rate limits of several ingresses', () => {
  const env = { RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: `${POINTS}` };
  const system = useSystem({ webs: 2, workers: 0, env });

  it('two ingresses exceed a rate limit by at most 4 % each, and refuse no call below it', async () => {
    const app = await system.app();
    const answers: Reply<unknown>[] = [];
    for (let batch = 0; batch < 15; batch += 1)
      answers.push(...(await Promise.all(Array.from({ length: 20 }, (_, n) => usage(app, at(n))))));
    const granted = answers.filter(({ status }) => status === 200).length;
    assert.ok(granted >= POINTS && granted <= POINTS + 2 * AHEAD_POINTS, `${granted}`);
    const refused = answers.slice(0, POINTS).filter(({ status }) => status === 429);
    assert.deepEqual(refused, []);
  });

  it('one ingress grants an app exactly as many calls as its rate limit, and counts each in the RateLimit header', async () => {
    const app = await system.app();
    for (let left = POINTS - 1; left >= 0; left -= 1) {
      const { status, headers } = await usage(app, at(0));
      assert.deepEqual([status, remainingOf(headers)], [200, left]);
    }
    const refused = await usage(app, at(0));
    assert.deepEqual([refused.status, remainingOf(refused.headers)], [429, 0]);
    const retryAfterS = Number(refused.headers.get('retry-after'));
    assert.ok(retryAfterS > WINDOW_S / 2 && retryAfterS <= WINDOW_S);
  });

  it('the RateLimit header of one ingress also counts calls to another ingress, except at most the latest four', async () => {
    const app = await system.app();
    for (let n = 0; n < 50; n += 1) await usage(app, at(0));
    const { headers } = await usage(app, at(1));
    assert.ok(remainingOf(headers) <= POINTS - 51 + AHEAD_POINTS, `${remainingOf(headers)}`);
  });

  const at = (n: number) => system.webs[n % system.webs.length] as HostedPart;
});

function usage(app: AppClient, at: HostedPart): Promise<Reply<unknown>> {
  return app.request('GET', '/v1/usage', undefined, { at });
}

/** Returns the remaining points of a header such as `RateLimit: "app";r=57;t=1`. */
function remainingOf(headers: Headers): number {
  return Number(headers.get('ratelimit')?.match(/;r=(\d+);/)?.[1]);
}
