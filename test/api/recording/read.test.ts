import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { signUp, type UserClient } from '../../support/account.ts';
import { add } from '../../support/memory.ts';
import { permissionEvent } from '../../support/permissions.ts';
import { pluck } from '../../support/pluck.ts';
import { event, post, recording } from '../../support/recording.ts';
import { useSystem } from '../../support/system.ts';

describe('reading recordings', () => {
  const system = useSystem({ workers: 0 });
  let ann: UserClient;
  before(async () => {
    ann = await signUp(system);
  });

  it('an event is returned as it was posted, with its time in UTC and its time of arrival', async () => {
    const since = Date.now();
    const row = event({
      occurred_at: '2026-05-01T14:00:00.5+02:00',
      received_at: 'ours wins',
      extra: { list: [1, 2.5, null, { x: '“é”' }] },
    });
    await post(ann, [row]);
    const { status, body } = await recording.event(ann, row.id);
    const { received_at, ...rest } = body;
    const { received_at: _, ...posted }: Record<string, unknown> = row;
    assert.equal(status, 200);
    assert.deepEqual(rest, { ...posted, occurred_at: '2026-05-01T12:00:00.500Z' });
    assert.match(String(received_at), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Math.abs(Date.parse(String(received_at)) - since) < 60_000);
  });

  it('events and sessions can be read by ids with any characters, such as slashes, quotes and emoji', async () => {
    for (const odd of ['a/b', 'a:b c', '%2F', '../up', 'ü🎈', '?x=1#y', '"q"\\', '🎈'.repeat(200)]) {
      const row = event({ id: odd, session_id: odd });
      assert.equal((await post(ann, [row])).body.accepted, 1);
      assert.equal((await recording.event(ann, odd)).body['id'], odd);
      assert.equal((await recording.sessionEvents(ann, odd)).body.session.session_id, odd);
    }
  });

  it('the list of sessions has the 50 sessions whose events arrived last, latest first', async () => {
    const user = await signUp(system);
    const ids = Array.from({ length: 55 }, (_, n) => `${user.id} ${n}`);
    await post(
      user,
      ids.map((session_id) => event({ session_id })),
    );
    await post(user, [event({ session_id: ids[3], occurred_at: '2001-01-01T00:00:00Z' })]);
    const { body } = await recording.sessions(user);
    const expected = [ids[3], ...ids.filter((id) => id !== ids[3]).toReversed()].slice(0, 50);
    assert.deepEqual(pluck(body.results, 'session_id'), expected);
    assert.deepEqual(body.results[1], {
      session_id: ids[54],
      owner: user.id,
      started_at: '2026-05-01T12:00:00.000Z',
      source: 'test',
      source_detail: null,
      ended_at: null,
      title: null,
      project: null,
      permissions: 0,
    });
  });

  it('the list of sessions has the first words of the person, or else the number of permissions they decided on', async () => {
    const user = await signUp(system);
    const [silent, spoken] = [randomUUID(), randomUUID()];
    await post(user, [
      permissionEvent('npm test', 'allowed', { session_id: silent }),
      permissionEvent('git push', 'refused', { session_id: silent }),
      permissionEvent('git push', 'refused', { session_id: spoken }),
    ]);
    await add(user, 'raw', { content: 'Fix the parser, please.', role: 'human', session_id: spoken });
    const { body } = await recording.sessions(user);
    assert.deepEqual(
      body.results.map(({ session_id, title, project, permissions }) => [
        session_id,
        title,
        project,
        permissions,
      ]),
      [
        [spoken, 'Fix the parser, please.', 'engine', null],
        [silent, null, 'engine', 2],
      ],
    );
  });

  it('pages of a session have the oldest events first, and events of the same time in order of arrival', async () => {
    const session_id = randomUUID();
    const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 3)).toISOString();
    const rows = Array.from({ length: 20 }, (_, n) => event({ session_id, occurred_at: at(n) }));
    const order = pluck(rows, 'id');
    // Posts the events out of order, but those of the same time in the order in which `rows` has them.
    await post(ann, [...rows.slice(9), ...rows.slice(0, 9)]);
    const all = await recording.sessionEvents(ann, session_id);
    assert.deepEqual([idsOf(all.body.results), all.body.next], [order, null]);

    const found: unknown[] = [];
    let after = '';
    for (;;) {
      const { body } = await recording.sessionEvents(ann, session_id, `?limit=7${after}`);
      assert.ok(body.results.length <= 7);
      assert.equal(body.session.session_id, session_id);
      found.push(...idsOf(body.results));
      // Adds an event older than those just read. It must neither show up nor shift the following pages.
      await post(ann, [event({ session_id, occurred_at: '2025-01-01T00:00:00Z' })]);
      if (body.next === null) break;
      after = `&after=${encodeURIComponent(body.next)}`;
    }
    assert.deepEqual(found, order);
  });

  it('the next page of a session includes a later event that arrived after the previous page was read', async () => {
    const session_id = randomUUID();
    await post(ann, [event({ session_id }), event({ session_id })]);
    const first = await recording.sessionEvents(ann, session_id, '?limit=1');
    const late = event({ session_id });
    await post(ann, [late]);
    const second = await recording.sessionEvents(ann, session_id, `?after=${first.body.next}`);
    assert.deepEqual([second.body.results.length, second.body.results[1]?.['id']], [2, late.id]);
  });

  it('a page of a session has up to 500 events by default, and up to 2000 with `limit`', async () => {
    const session_id = randomUUID();
    for (let n = 0; n < 3; n += 1)
      await post(
        ann,
        Array.from({ length: 700 }, () => event({ session_id })),
      );
    const countEvents = async (query: string) =>
      (await recording.sessionEvents(ann, session_id, query)).body.results.length;
    assert.equal(await countEvents(''), 500);
    assert.equal(await countEvents('?limit=2000'), 2000);
    assert.equal(await countEvents('?limit=1'), 1);
  });

  it('a page of a session ends early at 16 MiB, not before, and paging returns all events', async () => {
    const session_id = randomUUID();
    const large = (megabytes: number) =>
      event({ session_id, type: 'custom.large', payload: { filler: 'é'.repeat(megabytes * 500_000) } });
    const posted = [8, 8, 1, 15, 2].map(large);
    for (const one of posted) assert.equal((await post(ann, [one])).status, 201);
    const pages: unknown[][] = [];
    for (let after: string | null = ''; after !== null; ) {
      const { body } = await recording.sessionEvents(ann, session_id, after && `?after=${after}`);
      pages.push(body.results.map(({ received_at: _, ...one }) => one));
      after = body.next;
    }
    assert.deepEqual(pluck(pages, 'length'), [2, 2, 1]);
    const at = '2026-05-01T12:00:00.000Z';
    assert.deepEqual(
      pages.flat(),
      posted.map((one) => ({ ...one, occurred_at: at })),
    );
  });

  it('reading a session with an invalid `limit` or `after` is 422, and the error names the parameter', async () => {
    const row = event();
    await post(ann, [row]);
    for (const query of [
      'limit=0',
      'limit=2001',
      'limit=-1',
      'limit=1e2',
      'limit=',
      'limit=1&limit=2',
      'limit=01',
    ]) {
      const { status, text } = await recording.sessionEvents(ann, row.session_id, `?${query}`);
      assert.equal(status, 422, query);
      assert.deepEqual(JSON.parse(text).detail[0].loc, ['query', 'limit']);
    }
    for (const after of ['x', '', '1', '1-', `${'9'.repeat(16)}-1`, '1-1-1', '%00']) {
      const { status, text } = await recording.sessionEvents(ann, row.session_id, `?after=${after}`);
      assert.equal(status, 422, after);
      assert.deepEqual(JSON.parse(text).detail[0].loc, ['query', 'after']);
    }
    const extreme = await recording.sessionEvents(
      ann,
      row.session_id,
      `?after=${'9'.repeat(15)}-${'9'.repeat(15)}`,
    );
    assert.deepEqual([extreme.status, extreme.body.results], [200, []]);
    assert.equal((await recording.sessionEvents(ann, row.session_id, '?other=1')).status, 200);
  });
});

const idsOf = (results: Record<string, unknown>[]) => pluck(results, 'id');
