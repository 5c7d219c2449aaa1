import assert from 'node:assert/strict';
import type { Endpoint } from '../../ingress/http/endpoint.ts';
import { exampleOf } from '../../ingress/openapi/examples.ts';
import { endpoints } from '../../ingress/routes/index.ts';
import { newId } from '../../shared/ids.ts';
import type { JobReceipt } from '../../shared/schemas/jobs.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { connect, connectingApp } from '../support/connection.ts';
import { bySchema } from '../support/fake-provider.ts';
import { addFact, setProfile } from '../support/memory.ts';
import { event, post } from '../support/recording.ts';
import { predictSuccessfully, proposeReplies } from '../support/replies.ts';
import { type System, useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Word that every text written by the owner contains. */
const MARK = 'a-word-of-the-owner-alone';

/** Functions that create a row of the owner and return its id, by the path before the id. */
const ROW_CREATORS: Record<string, (system: System, owner: UserClient) => Promise<string>> = {
  '/api/auth/keys/': async (_, owner) => {
    const { body } = await owner.request<{ id: string }>('POST', '/api/auth/keys/', { label: MARK });
    return body.id;
  },
  '/api/connections/': async (system, owner) => {
    const connection = await connect(system, await connectingApp(system), owner);
    return connection.connection_id;
  },
  '/api/recording/events/': async (_, owner) => {
    const one = event({ prompt: MARK });
    await post(owner, [one]);
    return one.id;
  },
  '/api/recording/sessions/': async (_, owner) => {
    const one = event({ session_id: `session ${MARK} ${newId()}`, prompt: MARK });
    await post(owner, [one]);
    return one.session_id;
  },
  '/api/memory/raw/': addTo('raw', { content: MARK, session_id: MARK }),
  '/api/memory/episodes/': addTo('episodes', {
    title: MARK,
    summary: MARK,
    started_at: '2026-05-01T12:00:00Z',
    ended_at: '2026-05-01T12:00:00Z',
  }),
  '/api/memory/facts/': addTo('facts', { text: MARK }),
  '/api/predictions/': async (system, owner) => {
    system.provider.next(proposeReplies([{ response: MARK }]));
    return (await predictSuccessfully(owner, { agent_input: MARK, agent: MARK, session_id: MARK })).id;
  },
  '/api/jobs/': async (_, owner) => {
    const sync = (headers: Record<string, string>) =>
      owner.request<JobReceipt>('POST', '/api/memory/sync/', {}, { headers });
    const key = { 'idempotency-key': MARK };
    assert.equal((await sync(key)).status, 200);
    return (await sync({ ...key, prefer: 'respond-async' })).body.job_id;
  },
};

function addTo(tier: string, row: object) {
  return async (_: System, owner: UserClient) => {
    const { body } = await owner.request<{ id: string }>('POST', `/api/memory/${tier}/`, row);
    return body.id;
  };
}

/** Read from the endpoint table, so that new endpoints are covered automatically. */
const routes = endpoints.filter(({ credential }) => credential === 'user');
const routesWithId = routes.filter(({ path }) => path.includes(':'));
const routesWithoutId = routes.filter(({ path }) => !path.includes(':'));

describe('isolation of accounts', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });
  let owner: UserClient;
  let stranger: UserClient;
  /** The ids of the owner's rows, by the path that precedes the id. */
  const ids = new Map<string, string>();
  /** The answers that the stranger got before the owner had any data. */
  const readBefore = new Map<string, { status: number; text: string }>();

  before(async () => {
    system.provider.respond(bySchema({ reply: proposeReplies([{ response: 'Blue' }]) }));
    [owner, stranger] = await Promise.all([signUp(system, { name: MARK }), signUp(system)]);
    for (const { path } of routesWithoutId.filter(isRead)) {
      const { status, text } = await stranger.request('GET', path);
      readBefore.set(path, { status, text });
    }
    await setProfile(system, owner, MARK, { mark: MARK });
    await addFact(system, owner, { text: MARK });
    for (const [path, make] of Object.entries(ROW_CREATORS)) ids.set(path, await make(system, owner));
    // Waits for the worker to record its provider calls, which it does in the background.
    await until(async () => {
      const { rowCount } = await system.database.pool.query('select from provider_calls');
      return rowCount === system.provider.calls.length;
    });
  });

  /** Returns the owner's rows in `accounts` and in every table with an `account_id` as one text. */
  const ownersRows = async (): Promise<string> => {
    const { pool } = system.database;
    const { rows: tables } = await pool.query<{ name: string }>(
      `select table_name as name from information_schema.columns
        where table_schema = 'public' and column_name = 'account_id' order by 1`,
    );
    const found = [];
    for (const name of ['accounts', ...tables.map((table) => table.name)]) {
      const column = name === 'accounts' ? 'id' : 'account_id';
      const { rows } = await pool.query(
        `select to_jsonb(t)::text as row from ${name} t where ${column} = $1 order by 1`,
        [owner.id],
      );
      found.push(name, ...rows.map(({ row }) => row));
    }
    return found.join('\n');
  };

  /** Calls an endpoint with its documented example as the body, which passes the schema. */
  const call = (who: UserClient, { method, body }: Endpoint, path: string) => {
    const example = body && exampleOf(body);
    assert.ok(body === undefined || example !== undefined, `${method} ${path} has no example of its body`);
    return who.request<unknown>(method, path, body && JSON.stringify(example));
  };

  it('the tests of isolation cover every user endpoint with an id in its path', () => {
    const prefixes = new Set(routesWithId.map(prefixOf));
    assert.deepEqual(
      [...prefixes].sort(),
      Object.keys(ROW_CREATORS).sort(),
      'say in ROW_CREATORS how to make a row for the new path',
    );
  });

  for (const endpoint of routesWithId) {
    const { method, path } = endpoint;

    it(`${method} ${path} answers 404 to another account, and changes no row of the owner`, async () => {
      const id = ids.get(prefixOf(endpoint)) ?? '';
      const before = await ownersRows();
      const asked = await call(stranger, endpoint, at(path, id));
      const nobodys = await call(stranger, endpoint, at(path, newId()));
      assert.deepEqual([asked.status, asked.code], [404, 'not_found'], asked.text);
      assert.equal(asked.text, nobodys.text);
      assert.equal(await ownersRows(), before);
    });
  }

  for (const { path } of routesWithoutId.filter(isRead))
    it(`GET ${path} gives an account the same answer before and after another account stores data`, async () => {
      const { status, text } = await stranger.request('GET', path);
      assert.ok([200, 404].includes(status), text);
      assert.deepEqual({ status, text }, readBefore.get(path));
      for (const foreign of [MARK, owner.id, owner.email, ...ids.values()])
        assert.ok(!text.includes(foreign), foreign);
    });

  for (const endpoint of routesWithoutId.filter((route) => !isRead(route))) {
    const { method, path } = endpoint;

    it(`${method} ${path} leaves the data of other accounts unchanged`, async () => {
      const before = await ownersRows();
      const { status, text } = await call(await signUp(system), endpoint, path);
      assert.ok(status < 500 && status !== 422, text);
      assert.ok(!text.includes(MARK));
      assert.equal(await ownersRows(), before);
    });
  }

  it('an account can read its own row at every GET endpoint with an id in its path', async () => {
    for (const endpoint of routesWithId.filter(isRead)) {
      const { status, text } = await owner.request(
        'GET',
        at(endpoint.path, ids.get(prefixOf(endpoint)) ?? ''),
      );
      assert.equal(status, 200, text);
    }
  });
});

function isRead({ method }: Endpoint): boolean {
  return method === 'GET';
}

function prefixOf({ path }: Endpoint): string {
  return path.slice(0, path.indexOf(':'));
}

function at(path: string, id: string): string {
  return path.replace(/:\w+/, encodeURIComponent(id));
}
