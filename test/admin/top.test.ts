import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { adminResult } from '../support/admin.ts';
import { predictionBody } from '../support/client.ts';
import { describeWhere } from '../support/describe-where.ts';
import { bareEnvironment } from '../support/environment.ts';
import { when } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const COMMAND = ['bin/admin/main.ts', 'top'];
const hasScript = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false;

interface PoolRow {
  pool: string;
  state: string;
  waiting: number;
  oldest_s: number;
  running: number;
  slots: number;
  workers: number;
  rate_per_s: number;
}

describe('`admin top`', () => {
  const system = useSystem({ env: { WORKER_CONCURRENCY: '1', PREDICTION_TIMEOUT_MS: '60000' } });

  const predictPool = async (): Promise<PoolRow> => {
    const { pools } = await adminResult(['top'], system.env);
    assert.deepEqual(
      pools.map(({ pool }: PoolRow) => pool),
      ['predict', 'batch', 'memory'],
    );
    return pools[0];
  };

  it('`admin top` lists the pools with their state, waiting and running work, slots and workers', async () => {
    const app = await system.app();
    const idle = await predictPool();
    const { state, slots, workers, rate_per_s } = idle;
    assert.deepEqual([state, slots, workers, rate_per_s], ['open', 1, 1, 0]);
    assert.deepEqual([idle.waiting, idle.running, idle.oldest_s], [0, 0, 0]);

    const gate = Promise.withResolvers<void>();
    system.provider.respond(when(gate.promise));
    const calls = [1, 2, 3].map(() => app.predict(predictionBody()));
    const busy = await until(async () => {
      const shown = await predictPool();
      return shown.waiting === 2 && shown.oldest_s > 0 && shown;
    });
    assert.equal(busy.running, 1);
    gate.resolve();
    for (const { status } of await Promise.all(calls)) assert.equal(status, 200);

    await adminResult(['queue', 'pause', 'predict'], system.env);
    assert.equal((await predictPool()).state, 'paused');
    await adminResult(['queue', 'resume'], system.env);
  });

  it('`admin top` prints its table once when its output is not a terminal', async () => {
    const child = spawn(process.execPath, COMMAND, { env: { ...bareEnvironment(), ...system.env } });
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    assert.equal(code, 0);
    assert.match(
      printed,
      /^pool +state +waiting +oldest_s +running +slots +workers +rate_per_s\npredict +open /,
    );
    assert.equal(printed.split('\n').length, 5);
  });

  describeWhere(hasScript, 'on a terminal', 'there is no `script` of util-linux', () => {
    it('`admin top` on a terminal redraws its table repeatedly, and exits with 0 on Ctrl-C', async () => {
      const child = spawn('script', ['-qec', `exec ${process.execPath} ${COMMAND.join(' ')}`, '/dev/null'], {
        env: { ...bareEnvironment(), ...system.env },
      });
      let shown = '';
      child.stdout.on('data', (chunk) => {
        shown += chunk;
      });
      const exited = once(child, 'exit');
      await until(() => shown.split('Ctrl-C ends').length > 3);
      child.stdin.write('\x03');
      assert.deepEqual(await exited, [0, null]);
      const [last = ''] = shown.split('\x1b[2J').slice(-1);
      assert.match(last, /^pool .*\r\npredict +open /);
      child.stdin.end();
    });
  });
});
