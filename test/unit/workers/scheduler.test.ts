import assert from 'node:assert/strict';
import { workerConfig } from '../../../shared/config/config.ts';
import { nextTick } from '../../../shared/config/recurrence.ts';
import { type Database, openDatabase } from '../../../shared/db/orm.ts';
import type { Heartbeat } from '../../../shared/db/processes.ts';
import { newId } from '../../../shared/ids.ts';
import { createLog } from '../../../shared/log.ts';
import type { Queues } from '../../../shared/queue/queues.ts';
import { Rest } from '../../../shared/timing/rest.ts';
import { openScheduler } from '../../../workers/schedules/scheduler.ts';
import { useDatabase } from '../../support/database.ts';
import { firingsOf, noteFirings } from '../../support/firings.ts';
import { until } from '../../support/until.ts';

const EACH_SECOND = '* * * * * *';
const EACH_MINUTE = '* * * * *';
const NEVER = { sync: null, promotion: null };
const LOG = createLog('test', 'silent');

describe('scheduler', () => {
  const database = useDatabase();
  let running: AsyncDisposableStack;
  let opened: Database;
  before(async () => {
    const { url } = database;
    opened = await openDatabase({ database: { url, directUrl: url, poolSize: 2 } }, LOG, 'forecue test');
    await noteFirings(database);
  });
  after(() => opened.close());
  beforeEach(async () => {
    running = new AsyncDisposableStack();
    await database.pool.query('delete from schedules; delete from firings');
  });
  afterEach(() => running.disposeAsync());

  const start = (sync: string | null) => {
    const config = workerConfig({ DATABASE_URL: database.url });
    return openScheduler(running, {
      config: { ...config, recurrence: { ...NEVER, sync } },
      database: opened,
      queues: { queue: () => assert.fail('no account is due') } as unknown as Queues,
      heartbeat: {
        id: newId(),
        pausedPools: new Set(),
        rest: new Rest(),
        awake: async () => {},
      } as unknown as Heartbeat,
      log: LOG,
    });
  };
  const next = async () => {
    const { rows } = await database.pool.query<{ next: Date | null }>(
      `select next_tick as next from schedules where name = 'sync'`,
    );
    return rows[0]?.next?.getTime() ?? null;
  };
  const fired = () => firingsOf(database);

  it('three schedulers fire each tick once #ticks', async () => {
    await database.pool.query(
      `insert into schedules (name, pattern, next_tick)
       values ('sync', $1, date_trunc('second', now()) - interval '4 seconds')`,
      [EACH_SECOND],
    );
    await Promise.all([start(EACH_SECOND), start(EACH_SECOND), start(EACH_SECOND)]);
    const firings = await until(async () => {
      const all = await fired();
      return all.length >= 4 && all;
    }, 20_000);
    const first = firings[0]?.tick ?? 0;
    assert.deepEqual(
      firings.map(({ tick, count }) => [tick, count]),
      firings.map((_, n) => [first + n * 1000, 1]),
    );
  });

  it('a scheduler fires once for all ticks missed in 30 days #ticks', async () => {
    await start('30 4 * * *');
    await running.disposeAsync();
    running = new AsyncDisposableStack();
    await database.pool.query(`update schedules set next_tick = next_tick - interval '30 days'`);
    const missed = await next();
    await start('30 4 * * *');
    await until(async () => ((await next()) ?? 0) > Date.now());
    assert.deepEqual(
      (await fired()).map(({ tick, count }) => [tick, count]),
      [[missed, 1]],
    );
  });

  it('a scheduler fires again soon after a clock that was a year ahead has been set right, also in two steps', async () => {
    await database.pool.query(
      `insert into schedules (name, pattern, last_tick, fired_at, next_tick)
       values ('sync', $1, now() - interval '1 minute', now(), now())`,
      [EACH_MINUTE],
    );
    const setBack = async (interval: string) => {
      await database.pool.query(
        `update schedules set next_tick = next_tick + $1::interval, last_tick = last_tick + $1::interval,
                fired_at = fired_at + $1::interval`,
        [interval],
      );
      await running.disposeAsync();
      running = new AsyncDisposableStack();
      await start(EACH_MINUTE);
      await until(async () => ((await next()) ?? Number.POSITIVE_INFINITY) < Date.now() + 61_000);
    };
    await setBack('2 hours');
    await setBack('1 year');
  });

  it('a scheduler does not fire a tick again that fired before the clock was set back', async () => {
    const tick = nextTick(EACH_MINUTE, Date.now()) ?? 0;
    await database.pool.query(
      `insert into schedules (name, pattern, last_tick, fired_at, next_tick)
       select 'sync', $1, t, t, t + interval '1 minute' from to_timestamp($2::float8 / 1000) t`,
      [EACH_MINUTE, tick],
    );
    await start(EACH_MINUTE);
    assert.equal(await next(), tick + 60_000);
  });

  it('schedulers use the pattern of the scheduler that started last', async () => {
    await start('0 0 1 1 *');
    await start(EACH_SECOND);
    await until(async () => (await fired()).length > 0, 20_000);
    await start(null);
    assert.equal(await next(), null);
  });
});
