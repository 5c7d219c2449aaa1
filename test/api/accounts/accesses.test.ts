import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { endpoints } from '../../../ingress/routes/index.ts';
import { addReads } from '../../../shared/db/stores/access-log.ts';
import { newId } from '../../../shared/ids.ts';
import type { AccessList } from '../../../shared/schemas/accesses.ts';
import { clientWithKey, type KeyClient, signUp, type UserClient } from '../../support/account.ts';
import { predictionBody } from '../../support/client.ts';
import { connect, connectingApp } from '../../support/connection.ts';
import { bareEnvironment } from '../../support/environment.ts';
import { bySchema, ok } from '../../support/fake-provider.ts';
import { letProgramIn } from '../../support/grant.ts';
import { add } from '../../support/memory.ts';
import { at, createRows, prefixOf } from '../../support/owned-rows.ts';
import { pluck } from '../../support/pluck.ts';
import { predictSuccessfully, proposeReplies } from '../../support/replies.ts';
import { pathOf, TestProcess, useSystem } from '../../support/system.ts';
import { until } from '../../support/until.ts';

/** GET endpoints of an account whose answers have no stored row of memory, recording or predictions. */
const WITHOUT_ROWS = [
  'readAccount',
  'listKeys',
  'readKey',
  'listOwnLogIns',
  'listPasskeys',
  'listOwnGrants',
  'listApps',
  'readApp',
  'readChanges',
  'listWebhooks',
  'readWebhook',
  'listWebhookDeliveries',
  'listOwnConnections',
  'readOwnConnection',
  'listAccesses',
  'readMemoryStats',
  'readReplyStats',
  'readReplyCalibration',
  'readDecisionSettings',
  'readActivity',
  'readJob',
];

describe('log of what is read of an account', () => {
  const system = useSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: {
      RATE_LIMIT_RPS: '1000',
      PUBLIC_URL: 'http://localhost:8080',
      JWT_SECRET: 'a secret of all ingresses, of 32 bytes',
    },
  });
  let person: UserClient;

  beforeEach(async () => {
    system.provider.respond(
      bySchema({ reply: proposeReplies([{ response: 'Blue' }]), prediction: ok({ continuation: 'now' }) }),
    );
    person = await signUp(system);
  });

  const listOf = async (query = '', who: UserClient = person) =>
    (await who.get<AccessList>(`/api/accesses/${query}`)).body.results;
  const keyNamed = async (label: string, scopes = ['read', 'predict']): Promise<[string, KeyClient]> => {
    const client = await clientWithKey(person, scopes);
    const [key] = (await person.get<{ results: { id: string }[] }>('/api/auth/keys/')).body.results;
    await system.sql('update service_keys set label = $2 where id = $1', [key?.id, label]);
    return [key?.id ?? '', client];
  };
  /** Waits until what one reader read is written, with so many reads in all. */
  const untilRead = (readerId: string, reads: number) =>
    until(async () => {
      const rows = await listOf(`?reader_id=${readerId}`);
      return pluck(rows, 'reads').reduce((sum, one) => sum + one, 0) >= reads && rows;
    });

  it('every GET of stored rows by a key is in the log, by tier, with the number of rows', async () => {
    const ids = await createRows(system, person);
    const [keyId, key] = await keyNamed('a reader');
    const read = endpoints.filter(
      ({ method, credential, surface, operationId }) =>
        method === 'GET' && credential === 'user' && surface === 'api' && !WITHOUT_ROWS.includes(operationId),
    );
    for (const endpoint of read) {
      const { status, text } = await key.get(at(endpoint.path, ids.get(prefixOf(endpoint)) ?? ''));
      assert.equal(status, 200, `${endpoint.path} ${text}`);
    }
    const rows = await untilRead(keyId, read.length);
    assert.deepEqual(
      rows.map(({ tier, reads }) => [tier, reads]),
      [
        ['episodes', 2],
        ['export', 1],
        ['facts', 2],
        ['predictions', 3],
        ['profile', 1],
        ['raw', 2],
        ['recording', 3],
      ],
    );
    for (const { reader, name, rows: count, reads, day, last_at } of rows) {
      assert.deepEqual([reader, name, last_at.slice(0, 10)], ['key', 'a reader', day]);
      assert.ok(count >= reads);
    }
  });

  it('calls that read nothing, fail, or read no rows are not in the log', async () => {
    const [keyId, key] = await keyNamed('a reader');
    await add(person, 'facts', { text: 'Uses pnpm' });
    assert.equal((await key.get('/api/memory/raw/')).status, 200);
    assert.equal((await key.get(`/api/memory/facts/${newId()}/`)).status, 404);
    assert.equal((await key.get('/api/memory/stats/')).status, 200);
    assert.equal((await key.get('/api/memory/facts/?q=pnpm')).status, 200);
    const [only, ...others] = await untilRead(keyId, 1);
    assert.deepEqual([only?.tier, only?.reads, only?.rows, others], ['facts', 1, 1, []]);
  });

  it('a context and a predicted reply are in the log with the rows that they were made from', async () => {
    await add(person, 'facts', { text: 'Uses pnpm' });
    await add(person, 'facts', { text: 'Writes tests first' });
    const [keyId, key] = await keyNamed('an agent');
    assert.equal((await key.post('/api/memory/context/', { query: 'Which tests?' })).status, 200);
    await predictSuccessfully(key, { agent_input: 'Shall I use pnpm?' });
    const rows = await untilRead(keyId, 2);
    assert.deepEqual(
      rows.map(({ tier, reads, rows: count }) => [tier, reads, count]),
      [['facts', 2, 4]],
    );
  });

  it('predictions of a connected app are in the log, and those without a connection are not', async () => {
    await add(person, 'facts', { text: 'The report goes to Ingrid' });
    const app = await connectingApp(system);
    const { connection_id } = await connect(system, app, person);
    const draft = { text: 'The report goes to ', revision: 1 };
    for (const part of [{ connection_id }, {}])
      assert.equal((await app.predict(predictionBody({ ...part, draft }))).status, 200);
    const [only, ...others] = await untilRead(connection_id, 1);
    assert.deepEqual(
      [only?.reader, only?.name, only?.tier, only?.reads, only?.rows, others],
      ['app', 'test', 'facts', 1, 1, []],
    );
  });

  it('the log-ins of a person are one reader, and another account sees nothing of it', async () => {
    await add(person, 'facts', { text: 'Uses pnpm' });
    await person.get('/api/memory/facts/');
    const [only] = await untilRead(person.id, 1);
    assert.deepEqual([only?.reader, only?.name], ['log_in', '']);
    assert.deepEqual(await listOf('', await signUp(system)), []);
  });

  it('the log names a program, and a key by its label after the key is gone', async () => {
    const grantId = await letProgramIn(system, person.id);
    const [keyId] = await keyNamed('an old key');
    const count = { accountId: person.id, reader: 'key' as const, tier: 'facts' as const, reads: 1, rows: 2 };
    const write = () =>
      addReads(
        system.database.pool,
        [grantId, keyId].map((readerId) => ({ ...count, readerId })),
      );
    await write();
    await person.request('DELETE', `/api/auth/keys/${keyId}/`);
    await write();
    assert.deepEqual(
      (await listOf()).map(({ reader, name, reads, rows }) => [reader, name, reads, rows]).sort(),
      [
        ['grant', 'An agent', 2, 4],
        ['key', 'an old key', 2, 4],
      ],
    );
  });

  it('the log has pages and filters by reader, tier and day', async () => {
    const readers = [newId(), newId()];
    const count = { accountId: person.id, reader: 'key' as const, reads: 1, rows: 1 };
    const tiers = ['facts', 'raw'] as const;
    for (const days of [0, 1, 2]) {
      const counts = readers.flatMap((readerId) => tiers.map((tier) => ({ ...count, readerId, tier })));
      await addReads(system.database.pool, counts);
      await system.sql('update access_days set day = day - 1 where account_id = $1 and $2 < 2', [
        person.id,
        days,
      ]);
    }
    const all = await listOf();
    assert.equal(all.length, 12);
    const paged = [];
    for (let next: string | null = ''; next !== null; ) {
      const page: AccessList = (
        await person.get<AccessList>(`/api/accesses/?limit=5${next && `&cursor=${next}`}`)
      ).body;
      paged.push(...page.results);
      next = page.next;
    }
    assert.deepEqual(paged, all);
    assert.deepEqual(
      all.map(({ day }) => day),
      pluck(all, 'day').toSorted().toReversed(),
    );
    const lengthOf = async (query: string) => (await listOf(query)).length;
    assert.equal(await lengthOf(`?reader_id=${readers[0]}`), 6);
    assert.equal(await lengthOf('?tier=raw'), 6);
    assert.equal(await lengthOf(`?since=${all[0]?.day}`), 4);
    assert.equal(await lengthOf(`?until=${all[4]?.day}`), 8);
    for (const wrong of ['?cursor=x', '?tier=all', '?since=yesterday', '?since=0000-01-01', '?reader_id=1'])
      assert.equal((await person.get(`/api/accesses/${wrong}`)).status, 422);
    for (const day of ['0001-01-01', '9999-12-31'])
      assert.equal((await person.get(`/api/accesses/?since=${day}&until=${day}`)).status, 200);
  });

  it('an ingress that stops has written what was read', async () => {
    // A process of its own waits for 5 s before it writes what was read, or for its end.
    const env = { ...bareEnvironment(), ...system.env };
    await using web = new TestProcess(fork(pathOf('ingress/main.ts'), { env, silent: true }));
    await web.ready();
    await add(person, 'facts', { text: 'Uses pnpm' });
    assert.equal((await person.get('/api/memory/facts/', { at: web })).status, 200);
    await web.stop('SIGTERM');
    assert.equal((await listOf()).length, 1);
  });
});
