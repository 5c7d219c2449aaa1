import assert from 'node:assert/strict';
import type { Endpoint } from '../../ingress/http/endpoint.ts';
import { endpoints } from '../../ingress/routes/index.ts';
import { newId } from '../../shared/ids.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { bySchema } from '../support/fake-provider.ts';
import { at, createRows, exampleBody, MARK, prefixOf, ROW_CREATORS } from '../support/owned-rows.ts';
import { pluck } from '../support/pluck.ts';
import { proposeReplies } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Read from the endpoint table, so that new endpoints are covered automatically. */
const routes = endpoints.filter(({ credential }) => credential === 'user');
const routesWithId = routes.filter(({ path }) => path.includes(':'));
const routesWithoutId = routes.filter(({ path }) => !path.includes(':'));

describe('isolation of accounts', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });
  let owner: UserClient;
  let stranger: UserClient;
  /** The ids of the owner's rows, by the path that precedes the id. */
  let ids: Map<string, string>;
  /** The answers that the stranger got before the owner had any data. */
  const readBefore = new Map<string, { status: number; text: string }>();

  before(async () => {
    system.provider.respond(bySchema({ reply: proposeReplies([{ response: 'Blue' }]) }));
    [owner, stranger] = await Promise.all([signUp(system, { name: MARK }), signUp(system)]);
    for (const { path } of routesWithoutId.filter(isRead)) {
      const { status, text } = await stranger.get(path);
      readBefore.set(path, { status, text: withoutAccesses(path, text) });
    }
    ids = await createRows(system, owner);
    // Waits for the worker to record its provider calls, which it does in the background.
    await until(async () => {
      const { rowCount } = await system.database.pool.query('select from provider_calls');
      return rowCount === system.provider.calls.length;
    });
    // What the owner's two predictions read is written in the background, too.
    await until(async () => {
      const { rows } = await system.database.pool.query(
        `select reads::int from access_days where account_id = $1 and tier = 'profile'`,
        [owner.id],
      );
      return rows[0]?.reads === 2;
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
      found.push(name, ...pluck(rows, 'row'));
    }
    return found.join('\n');
  };

  const call = (who: UserClient, endpoint: Endpoint, path: string) =>
    who.request<unknown>(endpoint.method, path, exampleBody(endpoint));

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
      const { status, text } = await stranger.get(path);
      assert.ok([200, 404].includes(status), text);
      assert.deepEqual({ status, text: withoutAccesses(path, text) }, readBefore.get(path));
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
      const { status, text } = await owner.get(at(endpoint.path, ids.get(prefixOf(endpoint)) ?? ''));
      assert.equal(status, 200, text);
    }
  });
});

/** Leaves out what the stranger's own reads have added: that they read. */
function withoutAccesses(path: string, text: string): string {
  return path === '/api/accesses/' ? '' : text.replaceAll(/^{"type":"access".*\n/gm, '');
}

function isRead({ method }: Endpoint): boolean {
  return method === 'GET';
}
