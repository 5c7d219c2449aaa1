import assert from 'node:assert/strict';
import { MikroORM } from '@mikro-orm/postgresql';
import { missingMigrations } from '../../shared/db/migrate.ts';
import { ormOptions } from '../../shared/db/orm.ts';
import { migrate } from '../../shared/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { fillRecording } from '../support/recording.ts';
import { lockRow } from '../support/row-lock.ts';
import { until } from '../support/until.ts';

const ADDED = 'Migration20261124000003';
const [LARGE, SMALL, EMPTY, GOING] = [1, 2, 3, 4].map((n) => `00000000-0000-7000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
];

describe('the migration to quotas', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase({ empty: true });
    const orm = new MikroORM({ ...ormOptions(database.url), logger: () => {} });
    for (const name of await missingMigrations(database.pool))
      if (name < ADDED) await orm.migrator.up({ to: name });
    await orm.close(true);
    await database.pool.query(
      `insert into accounts (id, email, email_key, password_hash, created_at, updated_at, erasing_at)
       select id, id, id, '', now(), now(), case when id = $2 then now() end from unnest($1::uuid[]) id`,
      [[LARGE, SMALL, EMPTY, GOING], GOING],
    );
    for (const [id, events] of [
      [LARGE, 3000],
      [SMALL, 10],
      [GOING, 10],
    ] as const)
      await fillRecording({ database }, { id }, events);
  });
  after(() => database?.drop());

  const counted = async () => {
    const { rows } = await database.pool.query(
      `select account_id as id, sessions::int, events::int, bytes::int, reached::int from account_usage order by account_id`,
    );
    return rows;
  };

  it('counts what each account has recorded, waits for no upload, and continues after a failure', async () => {
    const { rows: stored } = await database.pool.query(
      `select account_id as id, count(distinct session_id)::int as sessions, count(*)::int as events,
              sum(octet_length(body))::int as bytes, max(arrival)::int as reached
         from recording_events where account_id <> $1 group by account_id order by account_id`,
      [GOING],
    );
    const erasure = await lockRow({ database }, 'accounts', 'id = $1', [SMALL]);
    const migrated = (patienceMs?: number) =>
      migrate({ directUrl: database.url, queuePrefix: 'forecue', ...(patienceMs && { patienceMs }) });
    await assert.rejects(migrated(500), /stays locked/).finally(() => erasure.release());
    assert.deepEqual(await counted(), stored.slice(0, 1));

    const upload = await database.pool.connect();
    await upload.query('begin');
    await upload.query('select from accounts where id = $1 for no key update', [SMALL]);
    const done = migrated();
    // The indexes that it makes next wait for transactions that are open, this one too, and block nobody.
    await until(async () => (await counted()).length === stored.length).finally(() => upload.release(true));
    await done;
    assert.deepEqual(await counted(), stored);
  });
});
