import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { signUp } from '../support/account.ts';
import { event, post } from '../support/recording.ts';
import { type System, startSystem, type TestProcess } from '../support/system.ts';
import { getText, openSocket } from '../support/unread.ts';
import { until } from '../support/until.ts';

const HEALTHY = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

describe('connections', () => {
  let system: System;
  let web: TestProcess;
  const sockets: Socket[] = [];
  before(async () => {
    system = await startSystem({ webs: 0, workers: 0 });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await web.stop();
  });
  after(() => system?.stop());

  const open = async (from?: string) => {
    const socket = await openSocket(web.url, from);
    sockets.push(socket);
    return socket;
  };

  /** Whether a request on it gets an answer; otherwise the connection was closed without one. */
  const isServed = (socket: Socket) =>
    new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true));
      socket.once('close', () => resolve(false));
      socket.write(HEALTHY);
    });

  const served = async (count: number, from?: string) => {
    const results = [];
    for (let n = 0; n < count; n += 1) results.push(await isServed(await open(from)));
    return results.filter(Boolean).length;
  };

  (process.platform === 'linux' ? it : it.skip)('are limited for each address', async () => {
    web = await system.startWeb({ MAX_CONNECTIONS_PER_ADDRESS: '5' });
    assert.equal(await served(8), 5);
    assert.equal(await served(8, '127.0.0.2'), 5);
    sockets[0]?.destroy();
    assert.ok(await until(async () => isServed(await open())));
    assert.equal(web.log.match(/connections are refused/g)?.length, 1);
  });

  it('of a trusted proxy are limited for the process alone', async () => {
    const limits = { MAX_CONNECTIONS: '8', MAX_CONNECTIONS_PER_ADDRESS: '5' };
    web = await system.startWeb({ ...limits, TRUST_PROXY: 'loopback' });
    assert.equal(await served(12), 8);
    sockets[0]?.destroy();
    assert.ok(await until(async () => isServed(await open())));
  });

  describe('with pipelined requests', () => {
    const received = async (socket: Socket, requests: string[]) => {
      let answers = '';
      socket.setEncoding('latin1').on('data', (chunk) => {
        answers += chunk;
      });
      socket.write(requests.join(''));
      const statuses = () => [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
      await until(() => socket.closed || statuses().length === requests.length);
      return { statuses: statuses(), isClosed: socket.closed };
    };

    it('answer them in their order', async () => {
      web = await system.startWeb();
      const person = await signUp({ webs: [web] });
      const paths = ['/nothing', '/healthz', '/api/auth/me/', '/nothing', '/api/connections/', '/healthz'];
      const requests = paths.map((path) => getText(person, path));
      const { statuses, isClosed } = await received(await open(), requests);
      assert.deepEqual([statuses.join(), isClosed], ['404,200,200,404,200,200', false]);
    });

    it('are closed when there are a thousand: they do not hold a thousand answers', async () => {
      web = await system.startWeb();
      const person = await signUp({ webs: [web] });
      const row = event({ id: 'e', type: 'custom.large', payload: { filler: 'x'.repeat(200_000) } });
      await post(person, [row]);
      const asked = Array.from({ length: 1000 }, () => getText(person, '/api/recording/events/e/'));
      const { statuses, isClosed } = await received(await open(), asked);
      assert.ok(isClosed);
      assert.ok(statuses.length <= 1, `${statuses.length} were answered`);
      assert.ok(await isServed(await open()));
    });
  });
});
