import assert from 'node:assert/strict';
import { listen } from '../../../ingress/http/server.ts';

describe('stopping an HTTP server', () => {
  it('a stopping server cuts off what runs longer than its grace period, and waits for no idle connection', async () => {
    const server = await listen({ host: '127.0.0.1', port: 0 });
    const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>();
    server.serve((request, response) => {
      if (request.url === '/idle') response.end();
      else noteAsked();
    });
    await (await fetch(`${server.url}/idle`)).text();
    const running = assert.rejects(fetch(`${server.url}/running`));
    await asked;
    await server.close(100);
    await running;
  });
});
