import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { BoardSnapshot } from '../../../ingress/board/snapshot.ts';
import { Viewers } from '../../../ingress/board/viewers.ts';
import { MIB } from '../../../shared/schemas/limits.ts';
import { listen } from '../../support/listening.ts';

const STREAM_MS = 15 * 60_000;

describe("board's viewers", () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('a browser that has the board open but reads nothing is disconnected after 15 minutes', async () => {
    const viewers = new Viewers({
      read: async () => ({}) as BoardSnapshot,
      render: () => ({ queue: 'x'.repeat(16 * MIB) }),
      renderFailure: () => ({}),
    });
    const server = createServer((_, response) => viewers.add(response, async () => true));
    const { port, close } = await listen(server);
    const viewer = connect(port);
    viewer.write('GET / HTTP/1.1\r\nHost: board\r\n\r\n');
    const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
    while (!response.writableNeedDrain) await turn();
    const closed = once(response, 'close');
    mock.timers.tick(STREAM_MS);
    await closed;
    assert.equal(response.writableFinished, false);
    viewer.destroy();
    await close();
  });
});
