import assert from 'node:assert/strict';
import { Server } from '@modelcontextprotocol/server';
import { type Session, Sessions } from '../../../ingress/mcp/sessions.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

describe('tool sessions of a credential', () => {
  it('a credential with 100 busy tool server sessions is refused another session until a request ends', async () => {
    const sessions = new Sessions({ max: 1000, idleMs: 60_000 });
    const open = (credentialHash: string) =>
      sessions.open(
        { credentialHash, allowsBatches: false },
        new Server({ name: 'test', version: '1' }, { capabilities: {} }),
        async (session): Promise<Session> => {
          const body = JSON.stringify(INITIALIZE);
          await session.transport.handleRequest(
            new Request('http://localhost/mcp', { method: 'POST', headers: HEADERS, body }),
          );
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
});
