import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runAdmin } from '../support/admin.ts';
import { predictionBody } from '../support/client.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';
import { until } from '../support/until.ts';

const PROVIDER = 'https://provider.example/v1';

describe('HTTPS_PROXY', () => {
  let proxy: Server;
  let system: System<TestProcess>;
  let env: Record<string, string>;
  let asked: (string | undefined)[];

  before(async () => {
    proxy = createServer().listen(0, '127.0.0.1');
    proxy.on('connect', (request, socket) => {
      asked.push(request.url);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    env = { OPENAI_BASE_URL: PROVIDER, HTTPS_PROXY: `http://127.0.0.1:${port}` };
    system = await startProcesses({ workers: 0 });
  });
  beforeEach(() => {
    asked = [];
  });
  after(async () => {
    await system?.stop();
    proxy.close();
  });

  /** The status of a prediction by a worker, and the finding of the doctor. */
  async function tried(more: Record<string, string> = {}) {
    const worker = await system.startWorker({ ...env, ...more });
    const app = await system.app();
    // The ingress hears of the worker a moment after that is ready.
    const { status } = await until(async () => {
      const reply = await app.predict(predictionBody());
      return reply.code !== 'overloaded' && reply;
    });
    await worker.stop('SIGTERM');
    const { stdout } = await runAdmin(['doctor', '--json'], { ...system.env, ...env, ...more });
    return { status, doctor: stdout };
  }

  it('HTTPS_PROXY is the way of workers and of the doctor to a provider at an https address', async () => {
    const { status, doctor } = await tried();
    assert.equal(status, 502);
    assert.ok(asked.length >= 2, `asked for ${asked}`);
    assert.deepEqual([...new Set(asked)], ['provider.example:443']);
    assert.match(doctor, /no answer .*HTTPS_PROXY/);
  });

  it('HTTPS_PROXY is not the way to a host that NO_PROXY names', async () => {
    assert.equal((await tried({ NO_PROXY: 'other.example,provider.example' })).status, 502);
    assert.deepEqual(asked, []);
  });
});
