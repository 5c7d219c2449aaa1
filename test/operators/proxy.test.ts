import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { runAdmin } from '../support/admin.ts';
import { predictionBody } from '../support/client.ts';
import { useServer } from '../support/listening.ts';
import { useProcesses } from '../support/system.ts';
import { until } from '../support/until.ts';

const PROVIDER = 'https://provider.example/v1';

describe('HTTPS_PROXY', () => {
  const system = useProcesses({ workers: 0 });
  let requestedHosts: (string | undefined)[];
  const proxy = useServer(
    createServer().on('connect', (request, socket) => {
      requestedHosts.push(request.url);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    }),
  );
  beforeEach(() => {
    requestedHosts = [];
  });

  async function tryProvider(more: Record<string, string> = {}) {
    const env = { OPENAI_BASE_URL: PROVIDER, HTTPS_PROXY: proxy.url };
    const worker = await system.startWorker({ ...env, ...more });
    const app = await system.app();
    // The ingress learns of the worker a moment after the worker is ready.
    const { status } = await until(async () => {
      const reply = await app.predict(predictionBody());
      return reply.code !== 'overloaded' && reply;
    });
    await worker.stop('SIGTERM');
    const { stdout } = await runAdmin(['doctor', '--json'], { ...system.env, ...env, ...more });
    return { status, doctor: stdout };
  }

  it('workers and the doctor call a provider at an https address through HTTPS_PROXY', async () => {
    const { status, doctor } = await tryProvider();
    assert.equal(status, 502);
    assert.ok(requestedHosts.length >= 2, `asked for ${requestedHosts}`);
    assert.deepEqual([...new Set(requestedHosts)], ['provider.example:443']);
    assert.match(doctor, /no answer .*HTTPS_PROXY/);
  });

  it('a host in NO_PROXY is not called through HTTPS_PROXY', async () => {
    assert.equal((await tryProvider({ NO_PROXY: 'other.example,provider.example' })).status, 502);
    assert.deepEqual(requestedHosts, []);
  });
});
