import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import { nodeHandler } from '../../client/src/connect.ts';
import { listen } from '../support/listening.ts';

async function serve(listener: RequestListener) {
  const { port, close } = await listen(createServer(listener));
  const open = (request: string) => {
    const socket = connect(port);
    socket.write(request);
    return socket;
  };
  return {
    open,
    statusOf: async (request: string) => (await text(open(request))).split(' ')[1],
    [Symbol.asyncDispose]: close,
  };
}

const HEAD = 'Host: app.example\r\nConnection: close\r\n';
const GET = `GET / HTTP/1.1\r\n${HEAD}\r\n`;

describe('nodeHandler', () => {
  it('nodeHandler answers 400 to a request that `Request` cannot express, and serves the next request', async () => {
    await using server = await serve(nodeHandler(async () => new Response('ok')));
    for (const request of [
      `GET // HTTP/1.1\r\n${HEAD}\r\n`,
      `GET http://u:p@app.example/ HTTP/1.1\r\n${HEAD}\r\n`,
      `TRACE / HTTP/1.1\r\n${HEAD}\r\n`,
      'GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n',
    ])
      assert.equal(await server.statusOf(request), '400', request);
    assert.equal(await server.statusOf(GET), '200');
  });

  it('nodeHandler reports no error if the client disconnects while sending, or before the answer has begun', async () => {
    const { promise: called, resolve: call } = Promise.withResolvers<void>();
    const handled: Promise<void>[] = [];
    const handler = nodeHandler(async ({ signal }) => {
      call();
      const start = (body: ReadableStreamDefaultController) =>
        signal.addEventListener('abort', () => body.error(signal.reason));
      return new Response(new ReadableStream({ start }));
    });
    const failures: unknown[] = [];
    await using server = await serve((request, response) => {
      handled.push(handler(request, response, (error) => failures.push(error)));
      if (request.method === 'POST') uploading.destroy();
    });
    const uploading = server.open(`POST / HTTP/1.1\r\n${HEAD}Content-Length: 9\r\n\r\nhalf`);
    await once(uploading, 'close');
    const waiting = server.open(GET);
    await called;
    waiting.destroy();
    await once(waiting, 'close');
    assert.deepEqual([await Promise.all(handled), failures], [[undefined, undefined], []]);
  });

  it("nodeHandler passes the handler's error to Express, and without Express logs the error and answers 500", async () => {
    const fault = new Error('no database');
    const handler = nodeHandler(() => Promise.reject(fault));
    const { promise: given, resolve: next } = Promise.withResolvers<unknown>();
    await using express = await serve((request, response) => {
      handler(request, response, (error) => {
        next(error);
        response.writeHead(503).end();
      });
    });
    assert.equal(await express.statusOf(GET), '503');
    assert.equal(await given, fault);
    await using bare = await serve(handler);
    const log = mock.method(console, 'error', () => {});
    assert.equal(await bare.statusOf(GET), '500');
    log.mock.restore();
    assert.deepEqual(log.mock.calls[0]?.arguments, [fault]);
  });
});
