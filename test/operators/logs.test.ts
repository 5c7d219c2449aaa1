import assert from 'node:assert/strict';
import { predictionBody } from '../support/client.ts';
import { status } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

interface Line {
  level: number;
  msg: string;
  requestId?: string;
  work?: string;
}

/** Pino's number for the level `info`. */
const INFO = 30;

describe('logs of a running system', () => {
  const system = useSystem();
  beforeEach(() => system.provider.reset());

  const lines = () =>
    [...system.webs, ...system.workers].flatMap(({ log }) =>
      log.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : [])),
    );
  const linesOf = (requestId: string) => lines().filter((line) => line.requestId === requestId);

  it('log lines of ingress and worker about one prediction have the same request id and prediction id', async () => {
    const app = await system.app();
    const answered = await app.predict(predictionBody(), { headers: { 'X-Request-Id': 'answered-1' } });
    const [access] = await until(() => linesOf('answered-1').length > 0 && linesOf('answered-1'));
    assert.equal(access?.msg, 'request');
    assert.equal(access?.work, answered.body.prediction_id);

    system.provider.next(status(500));
    await app.predict(predictionBody(), { headers: { 'X-Request-Id': 'failed-1' } });
    const both = await until(() => linesOf('failed-1').length === 2 && linesOf('failed-1'));
    assert.deepEqual(both.map(({ msg }) => msg).sort(), ['provider failed', 'request']);
    assert.equal(new Set(both.map(({ work }) => work)).size, 1);
    assert.ok(both.every(({ work }) => work !== undefined));
  });

  it('nothing is logged above the level info while calls are answered or refused, or their callers disconnect', async () => {
    const before = lines().filter(({ level }) => level > INFO).length;
    const app = await system.app();
    await Promise.all(Array.from({ length: 20 }, () => app.predict(predictionBody())));
    await app.predict({});
    await app.predict('{');
    await fetch(`${app.url}/v1/predictions`, { method: 'POST' });
    const gone = new AbortController();
    const call = app.predict(predictionBody(), { signal: gone.signal }).catch(() => undefined);
    gone.abort();
    await call;
    assert.equal(lines().filter(({ level }) => level > INFO).length, before);
  });
});
