import assert from 'node:assert/strict';
import { recallPhrases } from '../../shared/db/stores/memory/phrases.ts';
import { deleteOldHistory } from '../../shared/db/stores/work/forget.ts';
import type { ConnectionDetail } from '../../shared/schemas/connections.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { connect, connectingApp, type ExchangeResponse, revoke } from '../support/connection.ts';
import { delay, hang, ok } from '../support/fake-provider.ts';
import { add, addFact, setProfile } from '../support/memory.ts';
import { rowOf } from '../support/rows.ts';
import { useSystem } from '../support/system.ts';
import { whileFrozen } from '../support/time-travel.ts';
import { until } from '../support/until.ts';

const REVOKED = [403, 'connection_revoked'];

describe('predictions with a connection', () => {
  const system = useSystem({ webs: 2 });
  let app: AppClient;
  let person: UserClient;
  let connection: ExchangeResponse;
  beforeEach(async () => {
    system.provider.reset();
    app = await connectingApp(system);
    person = await signUp(system);
    connection = await connect(system, app, person);
  });
  const connectedBody = (part: object = {}) =>
    predictionBody({ connection_id: connection.connection_id, ...part });
  const statusOf = ({ status, code }: { status: number; code: string | undefined }) => [status, code];

  it("a connected prediction uses the profile and the valid facts, and returns the profile's and the grant's revision", async () => {
    await setProfile(system, person, 'Writes short, friendly mails', { team: 'sales' });
    await addFact(system, person, { text: 'Reports to Ada', confidence: 0.8 });
    await addFact(system, person, { text: 'Opens the door with kdk32xq9' });
    await addFact(system, person, { text: 'Signs as Max', pinned: true, confidence: 0.5 });
    await addFact(system, person, { text: 'Sees a doctor', tags: ['private'] });
    await addFact(system, person, { text: 'Moved to Oslo', valid_to: '2020-01-01' });
    await addFact(system, person, { text: 'Will move to Rome', valid_from: '2999-01-01' });
    await addFact(system, person, { text: 'Reports to Bob', superseded_by: connection.connection_id });

    const reply = await app.predict(connectedBody());
    assert.equal(reply.status, 200, reply.text);
    const { known, recalled } = (await system.provider.called(1)).record;
    const on = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length);
    assert.deepEqual(known, {
      profile: { summary: 'Writes short, friendly mails', data: { team: 'sales' } },
      facts: ['Signs as Max', 'Opens the door with [masked code]', 'Reports to Ada'].map(
        (text) => `${on} ${text}`,
      ),
    });
    assert.deepEqual(recalled, { facts: [], episodes: [], said: [] });
    const { connection_id, profile_revision, grant_revision } = reply.body;
    assert.equal(connection_id, connection.connection_id);
    assert.equal(grant_revision, 1);
    assert.notEqual(profile_revision, connection.profile_revision);

    assert.equal((await app.predict(connectedBody())).body.profile_revision, profile_revision);
    await addFact(system, person, { text: 'Likes tables' });
    assert.notEqual((await app.predict(connectedBody())).body.profile_revision, profile_revision);
  });

  it('predictions without a connection use no memory', async () => {
    await addFact(system, person, { text: 'Reports to Ada' });
    const { body } = await app.predict(predictionBody());
    assert.deepEqual([body.connection_id, body.profile_revision, body.grant_revision], [null, 'none', 0]);
    assert.equal((await system.provider.called(1)).record.known, null);
  });

  it('a person can narrow a connection to profile and facts, give it an end, and both hold from the next prediction on', async () => {
    await addFact(system, person, { text: 'Reports to Ada' });
    await add(person, 'raw', { content: 'I write the slides about a release', kind: 'reply' });
    const path = `/api/connections/${connection.connection_id}/`;
    const recalledNow = async () => {
      system.provider.reset();
      assert.equal((await app.predict(connectedBody())).status, 200);
      const { known, recalled } = (await system.provider.called(1)).record;
      return [known?.facts.length, recalled?.said.length];
    };
    assert.deepEqual(await recalledNow(), [1, 1]);
    const ends_at = '2999-01-01T00:00:00.000Z';
    const changed = await person.request('PATCH', path, { scope: { memory: 'facts' }, ends_at });
    assert.equal(changed.status, 200, changed.text);
    const { body: detail } = await person.get<ConnectionDetail>(path);
    assert.deepEqual([detail.scope, detail.ends_at], [{ memory: 'facts' }, ends_at]);
    assert.deepEqual(await recalledNow(), [1, 0]);
    const refused = [
      { ends_at: '2020-01-01T00:00:00Z' },
      { scope: { memory: 'none' } },
      { scope: {} },
      { status: 'revoked' },
    ];
    for (const body of refused) assert.equal((await person.request('PATCH', path, body)).status, 422);
    assert.equal((await (await signUp(system)).request('PATCH', path, {})).status, 404);

    await system.sql('update connections set ends_at = now() where id = $1', [connection.connection_id]);
    assert.deepEqual(statusOf(await app.predict(connectedBody())), REVOKED);
    assert.deepEqual(statusOf(await person.request('PATCH', path, { ends_at: null })), REVOKED);
    await until(async () => (await person.get<ConnectionDetail>(path)).body.status === 'revoked');
  });

  it('a person can narrow a connection to projects: rows of others and of none are neither recalled nor completed', async () => {
    const say = (content: string, project: string | null, n: number) =>
      add(person, 'raw', { content, project, kind: 'reply', session_id: `s-${n}` });
    for (const [n, project] of ['engine', 'engine', 'shop', 'shop', null, null].entries())
      await say(`I write the slides about a ${project ?? 'secret'} release, part ${n}`, project, n);
    await addFact(system, person, { text: 'Reports to Ada' });
    await addFact(system, person, { text: 'The shop is in Rust' });
    await system.sql(`update facts set project = 'shop' where text = 'The shop is in Rust'`);
    const path = `/api/connections/${connection.connection_id}/`;
    const scope = { memory: 'all', projects: ['/home/ada/Engine', 'engine'] };
    const { status, body } = await person.request<ConnectionDetail>('PATCH', path, { scope });
    assert.deepEqual([status, body.scope], [200, { memory: 'all', projects: ['engine'] }]);
    for (const headers of [{}, { 'forecue-project': 'shop' }] as Record<string, string>[]) {
      system.provider.reset();
      assert.equal((await app.predict(connectedBody(), { headers })).status, 200);
      const text = JSON.stringify((await system.provider.called(1)).record);
      assert.deepEqual(
        [/shop/.test(text), /secret/.test(text), /Reports to Ada/.test(text)],
        [false, false, true],
      );
      assert.equal(/engine release/.test(text), !('forecue-project' in headers));
    }
    const phrasesOf = (tail: string) =>
      recallPhrases(system.database.pool, 'connection', connection.connection_id, [tail], undefined);
    const found = await phrasesOf('slides about a ');
    assert.deepEqual([...new Set(found.map(({ following }) => following.split(' ')[0]))], ['engine']);

    await person.request('PATCH', path, { scope: { memory: 'all' } });
    assert.deepEqual((await person.get<ConnectionDetail>(path)).body.scope, { memory: 'all' });
    const wider = await phrasesOf('slides about a ');
    assert.equal(new Set(wider.map(({ following }) => following.split(' ')[0])).size, 3);
    for (const projects of [[], ['/home/ada'], 'engine'])
      assert.equal((await person.request('PATCH', path, { scope: { memory: 'all', projects } })).status, 422);
  });

  it('predictions that run when the end of their connection comes end as by a revoke', async () => {
    system.provider.next(hang());
    const running = app.predict(connectedBody());
    await system.provider.called(1);
    await system.sql('update connections set ends_at = now() where id = $1', [connection.connection_id]);
    assert.deepEqual(statusOf(await running), REVOKED);
  });

  it("a prediction request is 404 for an unknown connection or another app's, and 403 for another user's", async () => {
    const unknown = ['c-1', '00000000-0000-7000-8000-000000000000', connection.connection_id.toUpperCase()];
    for (const connection_id of unknown)
      assert.deepEqual(statusOf(await app.predict(connectedBody({ connection_id }))), [404, 'not_found']);
    const other = await connectingApp(system);
    assert.deepEqual(statusOf(await other.predict(connectedBody())), [404, 'not_found']);
    assert.deepEqual(statusOf(await app.predict(connectedBody({ user_id: 'u-2' }))), [403, 'access_denied']);
    assert.equal((await app.usage()).body.reserved_units, 0);
  });

  it('a revoked connection refuses predictions, including repeated requests, until there is a new grant', async () => {
    const body = connectedBody();
    const first = await app.predict(body);
    assert.deepEqual((await revoke(app, connection.connection_id)).body, { status: 'revoked' });
    assert.deepEqual((await revoke(app, connection.connection_id)).body, { status: 'revoked' });
    assert.deepEqual(statusOf(await app.predict(body)), REVOKED);
    assert.deepEqual(statusOf(await app.predict(connectedBody())), REVOKED);
    await connect(system, app, person);
    assert.equal((await app.predict(body)).text, first.text);
    assert.equal((await app.predict(connectedBody())).body.grant_revision, 2);
  });

  it('revoking a connection ends a running prediction with 403; the same request runs again after a new grant #revoke', async () => {
    system.provider.next(hang());
    const body = connectedBody();
    const waiting = app.predict(body);
    const call = await system.provider.called(1);
    const at = { url: system.webs[1]?.url ?? '' };
    const path = `/v1/connections/${connection.connection_id}/revoke`;
    assert.equal((await app.post(path, { user_id: 'u-1' }, { at })).status, 200);
    assert.deepEqual(statusOf(await waiting), REVOKED);
    await call.aborted;
    assert.deepEqual((await app.cancel(body.request_id, body.user_id)).body, {
      status: 'failed',
      prediction_units: 0,
    });
    assert.equal((await app.usage()).body.reserved_units, 0);
    const { id } = await rowOf(system, body);
    assert.deepEqual(statusOf(await app.predict(connectedBody())), REVOKED);

    await connect(system, app, person);
    const again = await app.predict(body);
    assert.deepEqual([again.status, again.body.prediction_id], [200, id], again.text);
    assert.equal(again.headers.get('idempotency-replayed'), null);
  });

  it('revoking a connection ends its queued predictions with 403, and they never run', async () => {
    await whileFrozen(system.workers, async () => {
      const body = connectedBody();
      const waiting = app.predict(body);
      await until(async () => (await rowOf(system, body).catch(() => undefined))?.state === 'queued');
      await revoke(app, connection.connection_id);
      assert.deepEqual(statusOf(await waiting), REVOKED);
    });
    await app.predict(predictionBody());
    assert.equal(system.provider.calls.length, 1);
  });

  it('a worker that claims a prediction of a revoked connection runs the prediction without memory', async () => {
    await setProfile(system, person, 'Writes short, friendly mails', { team: 'sales' });
    const body = connectedBody();
    const { waiting } = await whileFrozen(system.workers, async () => {
      const waiting = app.predict(body);
      await until(async () => (await rowOf(system, body).catch(() => undefined))?.state === 'queued');
      // Leaves the prediction queued, as a revoke does for a moment with predictions beyond its first thousand.
      await system.sql(`update connections set status = 'revoked' where id = $1`, [connection.connection_id]);
      return { waiting };
    });
    assert.equal((await waiting).body.profile_revision, 'none');
    assert.equal((await system.provider.called(1)).record.known, null);
  });

  it('a running prediction continues if the same account reconnects, and ends with 403 if another account connects', async () => {
    system.provider.next(delay(300, ok()), hang());
    const going = app.predict(connectedBody());
    await system.provider.called(1);
    await connect(system, app, person);
    assert.equal((await going).status, 200);

    const ending = app.predict(connectedBody());
    await system.provider.called(2);
    const replaced = await connect(system, app, await signUp(system));
    assert.equal(replaced.connection_id, connection.connection_id);
    assert.deepEqual(statusOf(await ending), REVOKED);
  });

  it("an answer made with one account's memory is 410 once another account has taken over the connection", async () => {
    await setProfile(system, person, 'Signs as Max', {});
    const [body, abstaining] = [connectedBody(), connectedBody({ draft: { text: ' ', revision: 2 } })];
    const first = await app.predict(body);
    await app.predict(abstaining);
    await connect(system, app, person);
    assert.equal((await app.predict(body)).text, first.text);
    const later = connectedBody({ draft: { text: 'Later', revision: 3 } });
    const { text } = await app.predict(later);

    const other = await signUp(system);
    await connect(system, app, other);
    for (const one of [body, abstaining, later, { ...body, language: 'de' }])
      assert.deepEqual(statusOf(await app.predict(one)), [410, 'recovery_window_expired']);
    const cancelled = (await app.cancel(body.request_id, body.user_id)).body;
    assert.deepEqual(cancelled, { status: 'suggested', prediction_units: 1 });
    const own = connectedBody({ draft: { text: 'Own', revision: 4 } });
    const answer = await app.predict(own);
    assert.equal(answer.body.grant_revision, 3);
    await connect(system, app, other);
    assert.equal((await app.predict(own)).text, answer.text);

    await connect(system, app, person);
    assert.deepEqual(statusOf(await app.predict(later)), [410, 'recovery_window_expired'], text);
    assert.deepEqual(statusOf(await app.predict(own)), [410, 'recovery_window_expired']);
  });

  it('the record of a grant that another account has replaced is kept for 42 days, and deleted after 44 days', async () => {
    const { pool } = system.database;
    await connect(system, app, await signUp(system));
    for (const [days, left] of [
      [42, 1],
      [44, 0],
    ]) {
      const age =
        'update erasing_grants set ended_at = now() - make_interval(days => $2) where account_id = $1';
      await pool.query(age, [person.id, days]);
      await deleteOldHistory(pool);
      const { rows } = await pool.query('select from erasing_grants where account_id = $1', [person.id]);
      assert.equal(rows.length, left);
    }
  });

  it('predictions sent just before or after a revoke are answered or refused, and leave no units reserved #revoke', async () => {
    system.provider.respond(delay(50, ok()));
    const calls = Array.from({ length: 60 }, async (_, n) => {
      if (n === 30) await revoke(app, connection.connection_id);
      return app.predict(connectedBody({ session_id: `s-${n}` }));
    });
    const replies = await Promise.all(calls);
    for (const reply of replies) if (reply.status !== 200) assert.deepEqual(statusOf(reply), REVOKED);
    assert.ok(replies.some(({ status }) => status === 403));
    const usage = (await app.usage()).body;
    assert.equal(usage.reserved_units, 0);
    assert.equal(usage.prediction_units, replies.filter(({ status }) => status === 200).length);
  });

  describe('connections as the person sees them', () => {
    it('a person can read how often and when last an app used their connection; another account gets 404', async () => {
      const path = `/api/connections/${connection.connection_id}/`;
      const unused = await person.get<ConnectionDetail>(path);
      assert.deepEqual(
        [unused.body.predictions, unused.body.suggested, unused.body.last_used_at],
        [0, 0, null],
      );
      await app.predict(connectedBody());
      await app.predict(connectedBody({ draft: { text: ' ', revision: 2 } }));
      const { status, body } = await person.get<ConnectionDetail>(path);
      assert.equal(status, 200);
      assert.deepEqual([body.predictions, body.suggested, body.app_name], [2, 1, 'test']);
      assert.ok(Date.now() - Date.parse(body.last_used_at ?? '') < 60_000);
      const other = await signUp(system);
      assert.equal((await other.get(path)).status, 404);
    });

    it('a person sees only their own connections, and revoking a connection ends the predictions that use it', async () => {
      const other = await signUp(system);
      const list = await person.get<{ results: object[] }>('/api/connections/');
      const [{ created_at, ...summary }] = list.body.results as [{ created_at: string }];
      assert.deepEqual(summary, {
        connection_id: connection.connection_id,
        app_name: 'test',
        status: 'connected',
      });
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.deepEqual((await other.get('/api/connections')).body, { results: [] });

      system.provider.next(hang());
      const waiting = app.predict(connectedBody());
      await system.provider.called(1);
      const path = `/api/connections/${connection.connection_id}/`;
      assert.equal((await other.request('DELETE', path)).status, 404);
      assert.equal((await person.request('DELETE', path)).status, 204);
      assert.deepEqual(statusOf(await waiting), REVOKED);
      assert.equal((await person.request('DELETE', path)).status, 204);
      assert.deepEqual(statusOf(await app.predict(connectedBody())), REVOKED);
    });
  });

  it('revoking a connection is 404 if the connection is unknown or of another app, and 403 if of another user', async () => {
    const { connection_id } = connection;
    for (const id of ['c-1', '00000000-0000-7000-8000-000000000000'])
      assert.deepEqual(statusOf(await revoke(app, id)), [404, 'not_found']);
    assert.deepEqual(statusOf(await revoke(await connectingApp(system), connection_id)), [404, 'not_found']);
    assert.deepEqual(statusOf(await revoke(app, connection_id, 'u-2')), [403, 'access_denied']);
    assert.equal((await app.predict(connectedBody())).status, 200);
  });
});
