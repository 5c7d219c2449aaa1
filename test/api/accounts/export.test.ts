import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { accountData, PAGE_BYTES_MAX } from '../../../shared/db/stores/account-data.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import { fetchPublished } from '../../support/client.ts';
import { assertPublished } from '../../support/client-contract.ts';
import { connect, connectingApp } from '../../support/connection.ts';
import { addFact, setProfile } from '../../support/memory.ts';
import { pluck } from '../../support/pluck.ts';
import { useSystem } from '../../support/system.ts';

describe('account export', () => {
  const system = useSystem({ workers: 0 });

  const record = (person: UserClient, events: object[]) => person.post('/api/recording/events/', events);

  const lines = async (person: UserClient) => {
    const response = await fetchPublished(`${person.url}/api/export/`, {
      headers: { authorization: `Bearer ${person.access}` },
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/x-ndjson');
    const body = await response.text();
    assert.ok(body.endsWith('\n'));
    return body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };

  const note = (person: UserClient, id: string, part: object = {}) => ({
    id,
    session_id: `session-of-${person.id}`,
    occurred_at: '2026-01-02T03:04:05.678Z',
    source: 'test',
    type: 'note',
    text: `note ${id}`,
    ...part,
  });

  it("an account's export contains the account, then all of its data, and no data of other accounts", async () => {
    const [person, other] = await Promise.all([signUp(system, { name: 'Ada' }), signUp(system)]);
    const { body: key } = await person.post<{ key: string; id: string }>('/api/auth/keys/', {
      label: 'k',
    });
    for (const one of [person, other]) {
      await record(one, [note(one, 'n-1', { extra: { kept: true } }), note(one, 'n-2')]);
      await setProfile(system, one, 'writes kindly', { tone: 'kind' });
      await addFact(system, one, { text: 'likes tea' });
      await connect(system, await connectingApp(system), one);
    }
    const found = await lines(person);
    const types = pluck(found, 'type');
    const expected = 'account key log_in connection session event event profile fact';
    assert.deepEqual(types, expected.split(' '));
    assert.ok(found.every((line) => Object.keys(line).join() === 'type,data'));
    const [account, exportedKey, , connection, session, event] = pluck(found, 'data');
    assert.deepEqual({ id: account.id, name: account.name }, { id: person.id, name: 'Ada' });
    assert.equal(exportedKey.id, key.id);
    assert.equal(connection.status, 'connected');
    assert.equal(session.session_id, `session-of-${person.id}`);
    assert.deepEqual({ id: event.id, extra: event.extra }, { id: 'n-1', extra: { kept: true } });
    const all = JSON.stringify(found);
    for (const foreign of [key.key, other.id, other.email, '"hash"', 'argon2'])
      assert.ok(!all.includes(foreign), foreign);
  });

  it("an account's export has every row exactly once, across many pages", async () => {
    const person = await signUp(system);
    const ids = Array.from({ length: 450 }, (_, i) => `e-${i}`);
    await record(
      person,
      ids.map((id, i) => note(person, id, { session_id: `${person.id}-${i % 130}` })),
    );
    const found = await lines(person);
    const events = found.filter(({ type }) => type === 'event').map(({ data }) => data.id);
    assert.deepEqual(events.toSorted(), ids.toSorted());
    const sessions = found.filter(({ type }) => type === 'session').map(({ data }) => data.session_id);
    assert.equal(new Set(sessions).size, 130);
    assert.equal(sessions.length, 130);
  });

  it("an account's export reads each row once, in pages of limited size", async () => {
    const person = await signUp(system);
    const { pool } = system.database;
    await pool.query(
      `insert into raw_memories (id, account_id, content, kind, origin, source, occurred_at, tags, metadata, created_at)
       select gen_random_uuid(), $1, repeat('😀', 8000), 'note', 'human', 'test', now(), '{}', '{}', now()
         from generate_series(1, 150)`,
      [person.id],
    );
    for (let n = 0; n < 5; n += 1) await addFact(system, person, { text: `fact ${n}` });
    await pool.query(
      `insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier)
       select account_id, id, gen_random_uuid(), 'derived_from', 'fact', 'episode' from facts, generate_series(1, 500)
        where account_id = $1`,
      [person.id],
    );
    const read: Record<string, number> = {};
    for await (const { type, rows } of accountData(() => system.em(), person.id)) {
      read[type] = (read[type] ?? 0) + rows.length;
      const bytes = Buffer.byteLength(JSON.stringify(rows));
      assert.ok(bytes <= PAGE_BYTES_MAX, `${bytes} bytes of ${type}`);
    }
    assert.deepEqual(read, { log_in: 1, passkey: 0, raw: 150, fact: 5, link: 2500 });
    const ids = (await lines(person)).filter(({ type }) => type === 'raw').map(({ data }) => data.id);
    assert.equal(new Set(ids).size, 150);
  });

  it("an account's export does not read far ahead of a slow client", async () => {
    const person = await signUp(system);
    for (let batch = 0; batch < 4; batch++)
      await record(
        person,
        Array.from({ length: 200 }, (_, i) => note(person, `${batch}-${i}`, { text: 'x'.repeat(60_000) })),
      );
    const [slow, gone] = await Promise.all([startReading(person), startReading(person)]);
    // Without back-pressure, the two exports that nobody reads would be complete when a third reader has read its own.
    assert.equal((await lines(person)).filter(({ type }) => type === 'event').length, 800);
    await system.sql('delete from recording_events where account_id = $1', [person.id]);
    gone.destroy();
    const { statusCode: status = 0, headers } = slow;
    const read = { method: 'GET', url: `${person.url}/api/export/`, status, type: headers['content-type'] };
    const rest = await text(slow);
    assertPublished({ ...read, text: rest });
    const lineCount = rest.trimEnd().split('\n').length;
    assert.ok(lineCount < 600, `${lineCount} lines were read ahead`);
    assert.equal((await person.get('/api/auth/me/')).status, 200);
    assert.ok(!system.webs.some(({ log }) => log.includes('"defect"')));
  });

  /** Requests an export, and resolves before any of its body is read. */
  const startReading = async ({ url, access }: UserClient): Promise<IncomingMessage> => {
    const call = get(`${url}/api/export/`, { headers: { authorization: `Bearer ${access}` } });
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    return response;
  };
});
