import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { KeyResponse } from '../../shared/schemas/accounts.ts';
import { signUp, type UserClient } from '../support/account.ts';
import type { Reply } from '../support/client.ts';
import { tally } from '../support/flood.ts';
import { event, post } from '../support/recording.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const KEYS = 100;
const EVENTS = 60;
const SESSIONS = 8;
const BYTES = 20_000;

describe('account', () => {
  const quotas = { QUOTA_EVENTS: `${EVENTS}`, QUOTA_SESSIONS: `${SESSIONS}`, QUOTA_BYTES: `${BYTES}` };
  const env = { ...quotas, PUBLIC_URL: 'https://forecue.example' };
  const system = useSystem({ workers: 0, webs: 2, env });
  let user: UserClient;
  beforeEach(async () => {
    user = await signUp(system);
  });

  const anyWeb = (n: number) => system.webs[n % 2] ?? user;
  const messageOf = ({ body }: { body: unknown }) => (body as { detail: { message: string } }).detail.message;

  describe('keys', () => {
    /** Issues a key. Retries if a busy machine refuses the call as overload. */
    const issue = (n = 0) =>
      until(async () => {
        const reply = await user.request('POST', '/api/auth/keys/', { label: `key ${n}` }, { at: anyWeb(n) });
        return reply.code !== 'overloaded' && reply;
      }, 30_000);
    const list = (query = ''): Promise<Reply<{ results: KeyResponse[] }>> =>
      user.request('GET', `/api/auth/keys/${query}`);

    it('an account gets at most 100 keys, even if 130 are requested at once', async () => {
      const replies = await Promise.all(Array.from({ length: KEYS + 30 }, (_, n) => issue(n)));
      assert.deepEqual(tally(replies), { 201: KEYS, '403 quota_exceeded': 30 });
      assert.equal((await list()).body.results.length, KEYS);
      assert.equal((await list()).headers.get('link'), null);

      const refused = await issue();
      assert.match(messageOf(refused), /100 of 100 keys are used/);
      const [{ id = '' } = {}] = (await list()).body.results;
      assert.equal((await user.request('DELETE', `/api/auth/keys/${id}/`)).status, 204);
      const again = await Promise.all([issue(0), issue(1)]);
      assert.deepEqual(tally(again), { 201: 1, '403 quota_exceeded': 1 });
    });

    it('an account with more keys than the quota allows can list all of them in pages', async () => {
      await system.sql(
        `insert into service_keys (id, account_id, hash, prefix, label, created_at)
         select gen_random_uuid(), $1::uuid, sha256(convert_to($1::text || n, 'UTF8')), 'service_', n, now()
           from generate_series(1, 250) n`,
        [user.id],
      );
      const found: KeyResponse[] = [];
      const sizes: number[] = [];
      for (let query: string | undefined = ''; query !== undefined; ) {
        const { body, headers } = await list(query);
        found.push(...body.results);
        sizes.push(body.results.length);
        query = headers.get('link')?.match(/^<(\?.+)>; rel="next"$/)?.[1];
      }
      assert.deepEqual(sizes, [100, 100, 50]);
      const ids = found.map(({ id }) => id);
      assert.deepEqual(ids, [...new Set(ids)].sort().reverse());
      assert.equal((await list('?limit=3')).body.results.length, 3);
      for (const wrong of ['?limit=0', '?limit=101', '?limit=x', '?cursor=1'])
        assert.equal((await list(wrong)).status, 422, wrong);
      assert.equal((await issue()).code, 'quota_exceeded');
    });
  });

  describe('recording', () => {
    const inSession = (session_id: string, events: number, part: object = {}) =>
      Array.from({ length: events }, () => event({ session_id, ...part }));

    /** Asserts that the counted usage equals the stored rows, and returns it. */
    const usage = async (owner = user) => {
      const rows = await system.sql(
        `select u.sessions::int, u.events::int, u.bytes::int from account_usage u where u.account_id = $1
          union all
         select (select count(*) from recording_sessions s where s.account_id = $1)::int, count(*)::int,
                coalesce(sum(octet_length(e.body)), 0)::int from recording_events e where e.account_id = $1`,
        [owner.id],
      );
      const [counted, stored] = rows;
      assert.deepEqual(counted, stored);
      return stored as { sessions: number; events: number; bytes: number };
    };

    it('an account stores exactly as many events as its quota allows, even if 20 batches are posted at once #quotas', async () => {
      const session = randomUUID();
      const posts = Array.from({ length: 20 }, (_, n) =>
        user.request('POST', '/api/recording/events/', inSession(session, 10), { at: anyWeb(n) }),
      );
      assert.deepEqual(tally(await Promise.all(posts)), { 201: 6, '403 quota_exceeded': 14 });
      assert.deepEqual({ ...(await usage()), bytes: 0 }, { sessions: 1, events: EVENTS, bytes: 0 });
    });

    it('a batch of events is not stored at all if its new events do not all fit into the quota', async () => {
      const session = randomUUID();
      const stored = inSession(session, EVENTS - 5);
      assert.equal((await post(user, stored)).status, 201);
      const refused = await post(user, [...stored.slice(0, 7), ...inSession(session, 6)]);
      assert.deepEqual([refused.status, refused.code], [403, 'quota_exceeded']);
      assert.match(messageOf(refused), /: 55 of 60 events are used, and 6 more would be needed\.$/);
      assert.equal((await usage()).events, EVENTS - 5);

      assert.equal((await post(user, inSession(session, 5))).body.accepted, 5);
      assert.equal((await post(user, inSession(session, 1))).code, 'quota_exceeded');
      const repeated = await post(user, [...stored, { id: 'not an event' }]);
      assert.deepEqual([repeated.status, repeated.body.duplicates], [200, stored.length]);
      assert.equal((await usage()).events, EVENTS);
    });

    it('an account stores as many sessions as its quota allows, and can still add events to the stored ones', async () => {
      const sessions = Array.from({ length: SESSIONS }, () => event());
      assert.equal((await post(user, sessions)).body.accepted, SESSIONS);
      const refused = await post(user, [event()]);
      assert.match(messageOf(refused), /: 8 of 8 sessions are used, and 1 more would be needed\.$/);
      assert.equal((await post(user, inSession(sessions[0]?.session_id ?? '', 3))).body.accepted, 3);
      assert.deepEqual(
        { ...(await usage()), bytes: 0 },
        { sessions: SESSIONS, events: SESSIONS + 3, bytes: 0 },
      );
    });

    it('an account stores at most as many UTF-8 bytes of events as its quota allows', async () => {
      const session = randomUUID();
      const large = () => inSession(session, 1, { prompt: 'é'.repeat(BYTES / 5) });
      assert.equal((await post(user, large())).status, 201);
      assert.equal((await post(user, large())).status, 201);
      const { bytes } = await usage();
      const refused = await post(user, large());
      assert.equal(refused.code, 'quota_exceeded');
      assert.match(
        messageOf(refused),
        new RegExp(`: ${bytes} of ${BYTES} bytes are used, and \\d+ more would be needed`),
      );
      assert.equal((await usage()).bytes, bytes);
    });
  });
});
