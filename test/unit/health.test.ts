import assert from 'node:assert/strict';
import { ProcessHealth } from '../../shared/process/health.ts';
import { openOperatorPort } from '../../shared/process/operator-port.ts';
import { scrape, sumOf } from '../support/metrics.ts';
import { until } from '../support/until.ts';

describe('process readiness', () => {
  it('a process checks its stores at most once a second, however often its readiness is requested', async () => {
    const health = new ProcessHealth();
    health.serving = true;
    let asked = 0;
    let isUp = true;
    health.require(async () => {
      asked += 1;
      if (!isUp) throw new Error('down');
    });
    const answers = await Promise.all(Array.from({ length: 100 }, () => health.isReady()));
    assert.ok(answers.every(Boolean));
    isUp = false;
    assert.equal(await health.isReady(), true);
    assert.equal(asked, 1);
    await until(async () => !(await health.isReady()), 5000);
    assert.equal(asked, 2);
    isUp = true;
    await until(() => health.isReady(), 5000);
    assert.equal(asked, 3);
  });

  it('a process is no longer ready once it stops serving', async () => {
    const health = new ProcessHealth();
    health.require(async () => {});
    health.serving = true;
    assert.equal(await health.isReady(), true);
    health.serving = false;
    assert.equal(await health.isReady(), false);
  });

  it('a process whose store does not answer reports in its metrics that it is healthy but not ready', async () => {
    const health = new ProcessHealth();
    health.serving = true;
    health.require(() => new Promise(() => {}));
    const port = await openOperatorPort({ host: '127.0.0.1', port: 0 }, health);
    try {
      const [metrics, { status }] = await Promise.all([
        scrape(Number(new URL(port.url).port)),
        fetch(`${port.url}/readyz`),
      ]);
      assert.equal(sumOf(metrics, 'forecue_ready'), 0);
      assert.equal(sumOf(metrics, 'forecue_healthy'), 1);
      assert.equal(status, 503);
    } finally {
      port.close();
    }
  });

  it("the operators' port of a process that listens on an IPv6 address has a valid URL", async () => {
    const port = await openOperatorPort({ host: '::', port: 0 }, new ProcessHealth());
    try {
      const { status } = await fetch(`${port.url}/readyz`);
      assert.equal(status, 503);
    } finally {
      port.close();
    }
  });
});
