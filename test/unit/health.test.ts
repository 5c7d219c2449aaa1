import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ProcessHealth } from '../../shared/process/health.ts';
import { openOperatorPort } from '../../shared/process/operator-port.ts';
import { useClock } from '../support/clock.ts';

describe('process checks', () => {
  const clock = useClock();

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
    await clock.pass(1000);
    assert.equal(await health.isReady(), false);
    isUp = true;
    await clock.pass(1000);
    assert.equal(await health.isReady(), true);
    assert.equal(asked, 3);
  });
});

describe('operator port on a loopback address', () => {
  let url: URL;
  let close: () => void;
  before(async () => {
    const port = await openOperatorPort({ host: '127.0.0.1', port: 0 }, new ProcessHealth());
    url = new URL(port.url);
    close = port.close;
  });
  after(() => close());

  it('the operator port is 421 for a name that a page could have made lead to it', async () => {
    const statusFor = async (host: string) => {
      const [answer]: IncomingMessage[] = await once(
        get(new URL('/metrics', url), { headers: { host } }),
        'response',
      );
      return answer?.resume().statusCode;
    };
    for (const host of [
      'evil.example',
      `evil.example:${url.port}`,
      'localhost.evil.example',
      '127.0.0.1.evil.example',
    ])
      assert.equal(await statusFor(host), 421, host);
    for (const host of [url.host, 'localhost', `localhost:${url.port}`, '[::1]:9460'])
      assert.equal(await statusFor(host), 200, host);
  });

  it('the operator port answers what came, on a connection that was unused, while its process stood still', async () => {
    const socket = connect(Number(url.port), '127.0.0.1');
    await once(socket, 'connect');
    // Continues after input, so that timers come before the next look for input.
    await once(get(new URL('/healthz', url)), 'response');
    socket.write(`GET /healthz HTTP/1.1\r\nHost: ${url.host}\r\nConnection: close\r\n\r\n`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 7000);
    assert.match(await text(socket), /^HTTP\/1.1 200 /);
  });

  it('the operator port closes half a request within ten seconds', async () => {
    const halves = [
      'GET /metrics HTTP/1.1\r\nHost: ',
      'GET /admin/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n',
    ];
    const sockets = halves.map((half) => {
      const socket = connect(Number(url.port), '127.0.0.1');
      socket.write(half);
      return socket;
    });
    await Promise.all(
      sockets.map((socket) => once(socket.resume(), 'close', { signal: AbortSignal.timeout(10_000) })),
    );
  });
});
