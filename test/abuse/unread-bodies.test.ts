import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { useSystem } from '../support/system.ts';

const MIB = 1024 * 1024;
/** Bytes that the buffers of the four connections may take beyond what is read. */
const BUFFERED_BYTES = 32 * MIB;

describe('unread rest of a refused body', () => {
  const system = useSystem({ workers: 0 });
  let url: string;
  before(async () => {
    url = system.webs[0]?.url ?? '';
  });

  /** Posts an endless body as fast as the server takes it. */
  const flood = (): Socket => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(`POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: ${2 ** 40}\r\n\r\n`);
    const piece = Buffer.alloc(MIB / 16);
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
      socket.once('drain', more);
    };
    more();
    return socket;
  };

  it('bodies of refused requests are read at less than 100 MiB/s over all connections together', async () => {
    const sockets = Array.from({ length: 4 }, flood);
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    const sent = () => sockets.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0);
    const before = sent();
    const since = performance.now();
    await sleep(2000);
    const mibPerS = (sent() - before - BUFFERED_BYTES) / MIB / ((performance.now() - since) / 1000);
    for (const socket of sockets) socket.destroy();
    assert.ok(mibPerS < 100, `${mibPerS} MiB/s were read`);
  });

  it('a client that is refused while it sends its body gets the answer, and can reuse a keep-alive connection', async () => {
    const post = async (agent: Agent | false) => {
      const outgoing = request(`${url}/v1/predictions`, {
        method: 'POST',
        agent,
        headers: { 'content-length': 8 * MIB },
      });
      // A slow client is still writing when its connection is closed, but has its answer by then.
      const sent = new Promise((resolve) => outgoing.once('close', resolve).once('finish', resolve));
      outgoing.on('error', () => {});
      const answered = once(outgoing, 'response');
      outgoing.end(Buffer.alloc(8 * MIB));
      const [response]: IncomingMessage[] = await answered;
      await sent;
      response?.resume();
      return { status: response?.statusCode, port: response?.socket.localPort };
    };
    for (let n = 0; n < 10; n += 1) assert.equal((await post(false)).status, 401);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    assert.deepEqual(await post(agent), await post(agent));
    agent.destroy();
  });
});
