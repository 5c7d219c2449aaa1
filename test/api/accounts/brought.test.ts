import assert from 'node:assert/strict';
import type { ListedKey } from '../../../shared/schemas/accounts.ts';
import { issueKey, KeyClient, signUp } from '../../support/account.ts';
import { add } from '../../support/memory.ts';
import { permissionRequest } from '../../support/permissions.ts';
import { predictSuccessfully, proposeReplies } from '../../support/replies.ts';
import { useSystem } from '../../support/system.ts';

describe('what keys brought', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });

  it('the list of keys says on request how many messages, predictions, permissions and decisions came with each', async () => {
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    const person = await signUp(system);
    const idle = new KeyClient(person, await issueKey(person));
    const key = new KeyClient(person, await issueKey(person));
    await add(key, 'raw', { content: 'I like blue.' });
    await add(key, 'raw', { content: 'I like red, too.' });
    await add(person, 'raw', { content: 'I like green.' });
    await add(idle, 'facts', { text: 'I like grey.' });
    const { id } = await predictSuccessfully(key, { agent_input: 'Which colour?' });
    const own = await predictSuccessfully(person, { agent_input: 'Which colour?' });
    for (const client of [key, person])
      await client.request('POST', '/api/predictions/permission/', permissionRequest('npm test'));
    for (const [client, prediction] of [
      [key, id],
      [person, own.id],
    ] as const) {
      const path = `/api/predictions/${prediction}/feedback/`;
      assert.equal((await client.request('POST', path, { status: 'rejected' })).status, 200);
    }
    const list = async (query: string) =>
      (await person.get<{ results: ListedKey[] }>(`/api/auth/keys/${query}`)).body.results;
    const nothing = { messages: 0, predictions: 0, permissions: 0, decisions: 0 };
    const something = { messages: 2, predictions: 1, permissions: 1, decisions: 1 };
    assert.deepEqual(
      (await list('?brought=true')).map(({ brought }) => brought),
      [something, nothing],
    );
    for (const query of ['', '?brought=false'])
      assert.ok((await list(query)).every((one) => !('brought' in one)));
  });
});
