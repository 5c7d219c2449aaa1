import assert from 'node:assert/strict';
import { addReads } from '../../../shared/db/stores/access-log.ts';
import { issueToken } from '../../../shared/db/stores/log-ins.ts';
import { beginLogIn } from '../../../shared/db/stores/own-log-ins.ts';
import { addToLedger } from '../../../shared/db/stores/provider-calls.ts';
import { eraseAccount, signUp, type UserClient } from '../../support/account.ts';
import { bookedCall } from '../../support/booked-call.ts';
import { connect, connectingApp } from '../../support/connection.ts';
import { letProgramIn } from '../../support/grant.ts';
import { fillMemoryTables, setProfile } from '../../support/memory.ts';
import { registerPasskey } from '../../support/passkeys.ts';
import { permissionRequest } from '../../support/permissions.ts';
import { pluck } from '../../support/pluck.ts';
import { event, post } from '../../support/recording.ts';
import { feedback, predictSuccessfully, proposeReplies } from '../../support/replies.ts';
import { useSystem } from '../../support/system.ts';
import { tablesWith } from '../../support/tables-with.ts';

/** Tables with rows of an account, and the `type` of the lines that the export makes of each. */
const EXPORTED_TABLES: Record<string, string> = {
  accounts: 'account',
  service_keys: 'key',
  refresh_tokens: 'log_in',
  passkeys: 'passkey',
  grants: 'grant',
  apps: 'app',
  webhooks: 'webhook',
  connections: 'connection',
  access_days: 'access',
  recording_sessions: 'session',
  recording_events: 'event',
  profiles: 'profile',
  raw_memories: 'raw',
  episodes: 'episode',
  facts: 'fact',
  memory_links: 'link',
  provider_calls: 'provider_call',
  replies: 'prediction',
  permission_decisions: 'permission',
};
/** Tables that are not exported, with the reason. */
const UNEXPORTED_TABLES: Record<string, string> = {
  account_usage: 'counts of the rows that are exported',
  token_usage: 'a sum over the calls that are exported',
  ended_log_ins: 'ids of log-ins, deleted after two hours',
  web_sessions: 'hashes of credentials',
  password_resets: 'hashes of credentials',
  passkey_challenges: 'hashes of challenges, for five minutes',
  email_changes: 'hashes of credentials, and an address for an hour',
  app_keys: 'hashes of credentials',
  grant_codes: 'hashes of credentials',
  login_networks: 'hashes of addresses',
  connection_attempts: 'steps towards a connection, deleted after a day',
  memory_tombstones: 'hashes of the ids of events',
  reply_calibrators: 'weights, made from the predictions that are exported',
  phrases: 'words of the raw rows that are exported',
  deliveries: 'ids of rows that are exported, deleted after a week',
  erasures: 'hashes, and ids of rows that are gone',
  erasing_grants: 'numbers of grants that the account no longer has',
};
/** Tables whose rows stay with the app or the operator, without the account; the last has the sum of all accounts. */
const OUTLIVING_TABLES = ['app_keys', 'apps', 'connections', 'erasures', 'provider_calls', 'token_usage'];

/** Tables with a column `account_id`, and those whose foreign keys lead to `accounts`. */
const TABLES_OF_AN_ACCOUNT = `
  with recursive owned (id) as (
    select 'public.accounts'::regclass::oid
    union
    select attrelid from pg_attribute where attname = 'account_id' and not attisdropped
    union
    select c.conrelid from pg_constraint c join owned on c.confrelid = owned.id where c.contype = 'f'
  )
  select relname as name from pg_class join owned on pg_class.oid = owned.id
   where relkind in ('r', 'p') and not relispartition order by relname`;

describe('account tables', () => {
  const system = useSystem();
  /** The installation's only account that is not erased, so that every row belongs to it. */
  let person: UserClient;
  let tables: string[];

  before(async () => {
    const rows = await system.sql<{ name: string }>(TABLES_OF_AN_ACCOUNT);
    tables = pluck(rows, 'name');
    person = await signUp(system);
    await addAllRows();
  });

  /** Gives every table a row of the account. Extend this function when a new table has such rows. */
  async function addAllRows() {
    await person.post('/api/auth/keys/', { label: 'k' });
    await setProfile(system, person, 'writes kindly', {});
    await fillMemoryTables(system, person);
    await post(person, [event(), event()]);
    await connect(system, await connectingApp(system), person);
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    await feedback(person, await predictSuccessfully(person), { status: 'accepted' });
    await person.post('/api/predictions/permission/', permissionRequest('npm test'));
    await loseConnection();
    await letProgramIn(system, person.id);
    await person.post('/api/apps/', { name: 'Own' });
    await registerPasskey(person, `http://localhost:${new URL(person.url).port}`);
    await person.post('/api/auth/passkeys/options/');
    const count = { reader: 'log_in', tier: 'facts', reads: 1, rows: 1 } as const;
    await addReads(system.database.pool, [{ ...count, accountId: person.id, readerId: person.id }]);
    const webhook = { url: 'https://receiver.example/', events: ['prediction.escalated'] };
    await person.post('/api/webhooks/', webhook);
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    await predictSuccessfully(person);
    const rows = await system.sql<{ hash: string }>('select password_hash as hash from accounts');
    await addToLedger(system.em(), [bookedCall({ accountId: person.id })]);
    const account = { id: person.id, passwordHash: rows[0]?.hash ?? '' };
    const ended = await beginLogIn(system.em(), account, { client: null, system: null });
    await person.request('DELETE', `/api/auth/log-ins/${ended?.login.id}/`);
    await issueToken(system.em(), 'web_sessions', account);
    await issueToken(system.em(), 'password_resets', account);
    await issueToken(system.em(), 'email_changes', account, { more: { email: 'new@example.com' } });
  }

  /** Connects the account to an app, and then, in its place, another account, which is erased at once. */
  async function loseConnection() {
    const app = await connectingApp(system);
    await connect(system, app, person);
    const other = await signUp(system);
    await connect(system, app, other);
    await eraseAccount(system, other);
  }

  async function tablesWithRows(): Promise<string[]> {
    const counts = await Promise.all(tables.map((name) => system.sql(`select from ${name}`)));
    return tables.filter((_, place) => counts[place]?.length);
  }

  it('every table that references an account is either exported or exempt for a stated reason', () => {
    assert.deepEqual(tables, Object.keys({ ...EXPORTED_TABLES, ...UNEXPORTED_TABLES }).sort());
  });

  it('the tests of export and erasure fill every table that references an account', async () => {
    assert.deepEqual(await tablesWithRows(), tables);
  });

  it("an account's export has lines from every table that is not exempt", async () => {
    const headers = { authorization: `Bearer ${person.access}` };
    const response = await fetch(`${person.url}/api/export/`, { headers });
    const types = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    assert.deepEqual([...new Set(types)].sort(), Object.values(EXPORTED_TABLES).sort());
  });

  it('erasing an account deletes its rows from every table except apps, connections and provider_calls, and leaves a hash of its id', async () => {
    await eraseAccount(system, person);
    assert.deepEqual(await tablesWithRows(), OUTLIVING_TABLES);
    assert.deepEqual(await tablesWith(system, person.id), []);
  });
});
