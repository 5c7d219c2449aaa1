import assert from 'node:assert/strict';
import { Server } from '@modelcontextprotocol/server';
import { endCancelled, type Session, Sessions } from '../../../ingress/mcp/sessions.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function post({ transport }: Session, message: object): Promise<Response> {
  const session = transport.sessionId && { 'mcp-session-id': transport.sessionId };
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return transport.handleRequest(
    new Request('http://localhost/mcp', { method: 'POST', headers: { ...HEADERS, ...session }, body }),
  );
}

describe('tool sessions of a credential', () => {
  it('a credential with 100 busy tool server sessions is refused another session until a request ends', async () => {
    const sessions = new Sessions({ max: 1000, idleMs: 60_000 });
    const open = (credentialHash: string) =>
      sessions.open(
        { credentialHash, allowsBatches: false },
        new Server({ name: 'test', version: '1' }, { capabilities: {} }),
        async (session): Promise<Session> => {
          await post(session, INITIALIZE);
          return session;
        },
      );
    const releases = [];
    for (let n = 0; n < 100; n += 1) releases.push(sessions.hold(await open('ann'), []));
    await assert.rejects(open('ann'), { code: 'overloaded' });
    assert.ok(await open('ben'));
    releases[0]?.();
    const { transport } = await open('ann');
    assert.ok(sessions.find(transport.sessionId ?? ''));
    await sessions.close();
  });

  it('a tool server session keeps nothing of a cancelled call, whether or not its client still listens', async () => {
    const sessions = new Sessions({ max: 1, idleMs: 60_000 });
    const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
    const { promise: aborted, resolve: noteAborted } = Promise.withResolvers<void>();
    const calls: AbortSignal[] = [];
    server.setRequestHandler('tools/call', async (_, { mcpReq: { signal } }) => {
      calls.push(signal);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (calls.every((call) => call.aborted)) noteAborted();
      return { content: [] };
    });
    const settings = { credentialHash: 'ann', allowsBatches: false };
    const session = await sessions.open(settings, server, async (opened) => {
      await (await post(opened, INITIALIZE)).text();
      return opened;
    });
    const answers: Response[] = [];
    for (const id of ['listening', 'gone'])
      answers.push(await post(session, { id, method: 'tools/call', params: { name: 'any' } }));
    await answers[1]?.body?.cancel();
    for (const requestId of ['listening', 'gone']) {
      await post(session, { method: 'notifications/cancelled', params: { requestId } });
      await endCancelled(session, requestId);
    }
    await aborted;
    assert.equal(await answers[0]?.text(), '');
    for (const id of ['listening', 'gone'])
      await assert.rejects(session.transport.send({ jsonrpc: '2.0', id, result: {} }), /No connection/);
    await sessions.close();
  });
});
