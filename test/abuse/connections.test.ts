import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { signUp } from '../support/account.ts';
import { event, post } from '../support/recording.ts';
import { type Part, useSystem } from '../support/system.ts';
import { openSocket } from '../support/unread.ts';
import { until } from '../support/until.ts';

const HEALTH_REQUEST = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

describe('connections', () => {
  const system = useSystem({ webs: 0, workers: 0 });
  let web: Part;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await web.stop();
  });

  const open = async (from?: string) => {
    const socket = await openSocket(web.url, from);
    sockets.push(socket);
    return socket;
  };

  /** Resolves with false if the socket is closed before an answer. */
  const isServed = (socket: Socket) =>
    new Promise<boolean>((resolve) => {
      socket.once('data', () => resolve(true));
      socket.once('close', () => resolve(false));
      socket.write(HEALTH_REQUEST);
    });

  const countServed = async (count: number, from?: string) => {
    const results = [];
    for (let n = 0; n < count; n += 1) results.push(await isServed(await open(from)));
    return results.filter(Boolean).length;
  };

  (process.platform === 'linux' ? it : it.skip)(
    'each client address can keep at most MAX_CONNECTIONS_PER_ADDRESS HTTP connections open, and closing one makes room for another #connections',
    async () => {
      web = await system.startWeb({ MAX_CONNECTIONS_PER_ADDRESS: '5' });
      assert.equal(await countServed(8), 5);
      assert.equal(await countServed(8, '127.0.0.2'), 5);
      sockets[0]?.destroy();
      assert.ok(await until(async () => isServed(await open())));
      assert.equal(web.log.match(/connections are refused/g)?.length, 1);
    },
  );

  it('HTTP connections of a trusted proxy are limited per process, not per address', async () => {
    const limits = { MAX_CONNECTIONS: '8', MAX_CONNECTIONS_PER_ADDRESS: '5' };
    web = await system.startWeb({ ...limits, TRUST_PROXY: 'loopback' });
    assert.equal(await countServed(12), 8);
    sockets[0]?.destroy();
    assert.ok(await until(async () => isServed(await open())));
  });

  describe('with pipelined requests', () => {
    /** Makes a request whose answer repeats the id. */
    const requestWithId = (n: number, lines: string[], body = '') =>
      [...lines, 'Host: x', `X-Request-Id: r-${n}`, '', body].join('\r\n');
    /** Returns the status and the request id of each answer. */
    const answersOf = (text: string) =>
      [...text.matchAll(/HTTP\/1\.1 (\d+) [\s\S]*?X-Request-Id: (\S+)/g)].map(
        ([, status, id]) => `${status} ${id}`,
      );
    const read = (socket: Socket) => {
      const received = { text: '' };
      socket.setEncoding('latin1').on('data', (chunk) => {
        received.text += chunk;
      });
      return received;
    };

    it('a thousand pipelined requests, a third of them with large answers, are answered in their order', async () => {
      web = await system.startWeb();
      const person = await signUp({ webs: [web] });
      const row = event({ id: 'e', type: 'custom.large', payload: { filler: 'x'.repeat(20_000) } });
      await post(person, [row]);
      const authorization = `Authorization: Bearer ${person.access}`;
      const posted = JSON.stringify({ refresh: 'x'.repeat(100) });
      const body = ['Content-Type: application/json', `Content-Length: ${posted.length}`];
      const requests = Array.from({ length: 1000 }, (_, n) => {
        if (n % 3 === 0) return requestWithId(n, ['GET /api/recording/events/e/ HTTP/1.1', authorization]);
        if (n % 3 === 1) return requestWithId(n, ['GET /healthz HTTP/1.1']);
        return requestWithId(n, ['POST /api/auth/logout/ HTTP/1.1', authorization, ...body], posted);
      });
      const socket = await open();
      const received = read(socket);
      socket.write(requests.join(''));
      await until(() => socket.closed || answersOf(received.text).length === requests.length, 30_000);
      const ids = answersOf(received.text).map((answer) => answer.split(' ')[1]);
      assert.deepEqual(
        ids,
        requests.map((_, n) => `r-${n}`),
      );
      assert.ok(await isServed(socket));
    });

    it('a malformed pipelined request, or one with a broken body, gets 400 after the earlier answers, and its connection closes', async () => {
      web = await system.startWeb();
      const person = await signUp({ webs: [web] });
      const authorization = `Authorization: Bearer ${person.access}`;
      const asked = [0, 1].map((n) => requestWithId(n, ['GET /api/auth/me/ HTTP/1.1', authorization]));
      const chunked = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
      const head = ['POST /api/auth/logout/ HTTP/1.1', authorization, ...chunked];
      for (const last of ['no HTTP\r\n\r\n', requestWithId(2, head, 'no chunk\r\n')]) {
        const socket = await open();
        const received = read(socket);
        socket.write(asked.join('') + last);
        await until(() => socket.closed);
        const [first, second, third, ...more] = answersOf(received.text);
        assert.deepEqual([first, second, third?.slice(0, 4), more], ['200 r-0', '200 r-1', '400 ', []]);
      }
    });

    it('when too many pipelined requests wait on all connections together, some connections are closed and new ones served #connections', async () => {
      web = await system.startWeb();
      const smallest = 'GET /connect/x HTTP/1.1\r\nHost:\r\n\r\n';
      const sockets = await Promise.all(Array.from({ length: 20 }, () => open()));
      for (const socket of sockets) socket.write(smallest.repeat(4000));
      await until(() => sockets.some(({ closed }) => closed));
      assert.ok(await isServed(await open()));
    });
  });
});
