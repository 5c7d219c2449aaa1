import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { delay } from '../support/fake-provider.ts';
import { tally } from '../support/flood.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, KeepAliveClient } from '../support/keep-alive-client.ts';
import { SCALE } from '../support/scale.ts';
import { callSteadily } from '../support/steadily.ts';
import { type TestProcess, useProcesses } from '../support/system.ts';

const RATE = 3;
const HIGH_RATE = 10 * RATE;
const BEFORE_MS = 10_000;
const HIGH_MS = 60_000 * SCALE;
const AFTER_MS = 60_000;
const SERVICE_MS = 400;
const SLOTS = 8;
/** Share of busy slots that the product aims at, also used by the oracle. */
const BUSY_SHARE = 0.7;
const WORKERS_MAX = 8;
const LOOK_INTERVAL_MS = 1000;
/** Maximum worker seconds, as a multiple of those of an oracle, which at all times has exactly the workers needed. */
const COST_MAX = 2.5;
/** A lower signal counts once it has lasted this long: Kubernetes' `stabilizationWindowSeconds`, here shorter. */
const SCALE_IN_AFTER_MS = 15_000;

const oracle = (rate: number) => Math.ceil((rate * SERVICE_MS) / 1000 / SLOTS / BUSY_SHARE);

describe('a controller that follows /scale/predict', function () {
  this.timeout(2 * (BEFORE_MS + HIGH_MS + AFTER_MS));
  const system = useProcesses({
    webs: 0,
    env: { WORKER_CONCURRENCY: `${SLOTS}`, SANDBOX_UNITS: '1000000' },
  });

  it('workers that follow /scale/predict carry a load that grows tenfold in one step, at 2.5 times the least cost at most, and only one is left when the load falls', async () => {
    const operator = await freePort();
    await system.startWeb({ OPERATOR_PORT: `${operator}` });
    system.provider.respond(delay(SERVICE_MS));
    const app = await system.app();
    const client = new KeepAliveClient(app.key);
    const calls: Promise<Answer>[] = [];
    const call = () => void calls.push(client.predict(app.url, predictionBody()));
    const controller = follow(`http://127.0.0.1:${operator}/scale/predict`);
    await callSteadily(RATE, BEFORE_MS, call);
    await callSteadily(HIGH_RATE, HIGH_MS, call);
    const most = controller.most();
    await callSteadily(RATE, AFTER_MS, call);
    const { last, seconds } = await controller.stop();
    const {
      200: answered = 0,
      '503 overloaded': overloaded = 0,
      ...others
    } = tally(await Promise.all(calls));
    client.close();
    const oracleSeconds = (oracle(RATE) * (BEFORE_MS + AFTER_MS) + oracle(HIGH_RATE) * HIGH_MS) / 1000;
    console.log(JSON.stringify({ answered, overloaded, most, seconds, oracleSeconds }));
    assert.deepEqual(others, {});
    assert.ok(most >= oracle(HIGH_RATE), `at most ${most} workers`);
    assert.equal(last, 1);
    assert.ok(seconds <= COST_MAX * oracleSeconds, `${seconds} worker seconds instead of ${oracleSeconds}`);
  });

  /** Follows the signal: scales up at once, and down when the signal has been lower for a while. */
  function follow(url: string) {
    const running = [...system.workers];
    const stops: Promise<void>[] = [];
    const signals: { at: number; desired: number }[] = [];
    let [most, seconds, isOver] = [0, 0, false];
    const loop = (async () => {
      while (!isOver) {
        const at = performance.now();
        const { desired } = (await (await fetch(url)).json()) as { desired: number };
        signals.push({ at, desired });
        const recent = signals.filter((one) => one.at > at - SCALE_IN_AFTER_MS);
        const target = Math.min(WORKERS_MAX, Math.max(...recent.map((one) => one.desired)));
        while (running.length < target) running.push(system.launch('worker'));
        while (running.length > target) stops.push((running.pop() as TestProcess).stop('SIGTERM'));
        most = Math.max(most, running.length);
        await sleep(LOOK_INTERVAL_MS);
        // A worker costs whether it is ready or not.
        seconds += (running.length * (performance.now() - at)) / 1000;
      }
    })();
    return {
      most: () => most,
      async stop() {
        isOver = true;
        await loop;
        await Promise.all(stops);
        return { last: running.length, seconds: Math.round(seconds) };
      },
    };
  }
});
