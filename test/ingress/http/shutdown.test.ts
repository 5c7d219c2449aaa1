import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { edge, readAll, start, useEdgeServer } from '../../support/edge-server.ts';
import { until } from '../../support/until.ts';

describe('server shutdown', () => {
  useEdgeServer();

  afterEach(() => {
    edge.shuttingDown = false;
  });

  it('a stopping server answers running requests with Connection: close, and accepts no new connection', async () => {
    const other = await start();
    const reply = fetch(`${other.url}/v1/wait`);
    await edge.waiting;
    edge.shuttingDown = true;
    const closed = other.close(5000);
    await until(() =>
      fetch(`${other.url}/v1/usage`).then(
        () => false,
        () => true,
      ),
    );
    edge.release();
    const response = await reply;
    assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close']);
    await closed;
  });

  it('a stopping server still answers a request sent on a kept-alive connection, with Connection: close', async () => {
    const other = await start();
    const kept = connect(other.port, '127.0.0.1');
    kept.write('GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(kept, 'data');
    edge.shuttingDown = true;
    const closed = other.close(5000);
    kept.write('GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n');
    assert.match(await readAll(kept), /^HTTP\/1.1 404 .*\r\nconnection: close\r\n/is);
    await closed;
  });

  it('a stopping server keeps idle connections open for as long as requests arrive on others', async () => {
    const other = await start();
    const request = 'GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n';
    const connections = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const kept = connect(other.port, '127.0.0.1');
        kept.write(request);
        await once(kept, 'data');
        return { kept, answer: readAll(kept) };
      }),
    );
    edge.shuttingDown = true;
    const closed = other.close(5000);
    for (const { kept, answer } of connections) {
      // Shorter than the quiet time after which the server closes idle connections.
      await sleep(200);
      kept.write(request);
      assert.match(await answer, /^HTTP\/1.1 404 .*\r\nconnection: close\r\n/is);
    }
    await closed;
  });

  it('a stopping server does not wait for idle connections', async () => {
    const other = await start();
    const idle = connect(other.port, '127.0.0.1');
    idle.on('error', () => {});
    await once(idle, 'connect');
    await (await fetch(`${other.url}/v1/nowhere`)).text();
    const begin = performance.now();
    await other.close(5000);
    assert.ok(performance.now() - begin < 1000);
  });

  it('a stopping server closes a kept-alive connection soon after its running request is answered', async () => {
    const other = await start();
    const reply = fetch(`${other.url}/v1/wait`);
    await edge.waiting;
    const closed = other.close(5000);
    edge.release();
    assert.equal((await reply).headers.get('connection'), 'keep-alive');
    const begin = performance.now();
    await closed;
    assert.ok(performance.now() - begin < 1000);
  });

  it('a stopping server aborts requests that run longer than the grace period', async () => {
    const other = await start();
    const reply = assert.rejects(fetch(`${other.url}/v1/wait`));
    await edge.waiting;
    const begin = performance.now();
    await other.close(300);
    assert.ok(performance.now() - begin >= 290);
    await reply;
    await edge.callerGone;
  });
});
