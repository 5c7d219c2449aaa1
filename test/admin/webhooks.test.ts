import assert from 'node:assert/strict';
import { adminResult, runAdmin } from '../support/admin.ts';
import { useSystem } from '../support/system.ts';

const URL_OF_RECEIVER = 'https://receiver.example/forecue';

describe('webhooks of apps, by operators', () => {
  const system = useSystem({ webs: 0, workers: 0 });
  const env = () => ({ DATABASE_URL: system.database.url });

  it('`webhook create` shows the secret once; it is listed, rotated, replayed and deleted', async () => {
    const { id } = await system.app();
    const result = (...args: string[]) => adminResult(['webhook', ...args], env());
    const { webhook_id, secret } = await result('create', id, '--url', URL_OF_RECEIVER);
    assert.match(secret, /^whsec_[\w+/]{43}=$/);
    const [listed] = await result('list', id);
    assert.deepEqual(listed, {
      webhook_id,
      url: URL_OF_RECEIVER,
      events: ['connection.revoked', 'cap.reached'],
      disabled: null,
      failing_since: null,
    });
    assert.notEqual((await result('rotate', webhook_id, '--grace', '60')).secret, secret);
    assert.equal((await result('replay', webhook_id)).replayed, 0);
    assert.equal((await result('delete', webhook_id)).deleted, webhook_id);
    assert.deepEqual(await result('list', id), []);
    const again = await runAdmin(['webhook', 'delete', webhook_id], env());
    assert.equal(again.code, 1);
  });
});
