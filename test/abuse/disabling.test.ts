import assert from 'node:assert/strict';
import { approveAttempt } from '../../shared/db/stores/connections/attempts.ts';
import { disableAccount } from '../../shared/db/stores/end-account.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { approve, connect, connectingApp, exchange, startConnection } from '../support/connection.ts';
import { lockRow, untilLocked } from '../support/row-lock.ts';
import { useSystem } from '../support/system.ts';

const WINDOW_S = 600;

describe('disabling an account', () => {
  const system = useSystem({ workers: 0 });

  /** Returns the consent that the account still has: connections, and approved attempts. */
  const consentOf = async (accountId: string) => {
    const rows = await system.sql(
      `select 'connection' as what from connections where account_id = $1 and status = 'connected'
        union all
       select 'attempt' from connection_attempts where account_id = $1 and status = 'approved'`,
      [accountId],
    );
    return rows.map(({ what }) => what);
  };

  it('while an account is being disabled, a connection attempt can be neither approved nor exchanged', async () => {
    const [person, app] = await Promise.all([signUp(system), connectingApp(system)]);
    const earlier = await connect(system, app, person, 'u-1');
    const [granted, approved] = [await startConnection(app, 'u-2'), await startConnection(app, 'u-3')];
    const code = await approve(system, granted, person);
    // The lock stops the operator's command midway.
    const lock = await lockRow(system, 'connections', 'id = $1', [earlier.connection_id]);
    const disabling = disableAccount(system.em(), person.id, WINDOW_S);
    await untilLocked(system);
    const exchanging = exchange(app, granted, code);
    const late = await approveAttempt(system.em(), approved.request_id, person.id);
    await lock.release();
    assert.equal(late, undefined);
    assert.equal((await exchanging).code, 'access_denied');
    assert.equal((await disabling)?.active, false);
    assert.deepEqual(await consentOf(person.id), []);
  });

  it('a consent is revoked if its account is disabled while the consent is being stored', async () => {
    const [person, app] = await Promise.all([signUp(system), connectingApp(system)]);
    const attempt = await startConnection(app);
    const lock = await lockRow(system, 'connection_attempts', 'id = $1', [attempt.request_id]);
    const approving = approveAttempt(system.em(), attempt.request_id, person.id);
    await untilLocked(system);
    const disabling = disableAccount(system.em(), person.id, WINDOW_S);
    // Goes on when the disabling waits for the approval, or has wrongly ended without waiting.
    await Promise.race([disabling, untilLocked(system, '', 2)]);
    await lock.release();
    await Promise.all([approving, disabling]);
    assert.deepEqual(await consentOf(person.id), []);
  });

  for (const [name, end] of [
    ['disabled', (person: UserClient) => disableAccount(system.em(), person.id, WINDOW_S)],
    ['erased', (person: UserClient) => person.request('DELETE', '/api/auth/me/')],
  ] as const)
    it(`a connection that moves to another account is revoked if that account is ${name} at the same time`, async () => {
      const [person, other] = [await signUp(system), await signUp(system)];
      const app = await connectingApp(system);
      const { connection_id } = await connect(system, app, other);
      const attempt = await startConnection(app);
      const code = await approve(system, attempt, person);
      const lock = await lockRow(system, 'connections', 'id = $1', [connection_id]);
      const exchanging = exchange(app, attempt, code);
      await untilLocked(system);
      const ending = end(person);
      // Goes on when the ending waits for the exchange, or is wrongly over without waiting.
      await Promise.race([ending, untilLocked(system, '', 2)]);
      await lock.release();
      assert.equal((await exchanging).status, 200);
      await ending;
      assert.deepEqual(await consentOf(person.id), []);
    });
});
