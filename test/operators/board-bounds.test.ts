import assert from 'node:assert/strict';
import { lowestIdAt, newId } from '../../shared/ids.ts';
import { Operator, startBoard } from '../support/board.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 60 * 60 * 1000;

describe("bounds of the operators' board", () => {
  const system = useSystem({ webs: 0, workers: 0, env: { RECOVERY_WINDOW_S: '7200' } });
  let operator: Operator;
  before(async () => {
    operator = new Operator(await startBoard(system));
    await operator.signIn(system.env['ADMIN_TOKEN'] ?? '');
  });

  /** Waits until the board shows the text. Returns the page. */
  const boardWith = (text: string) =>
    until(async () => {
      const page = await (await operator.get('')).text();
      return page.includes(text) && page;
    });

  async function addHistory(codes: readonly string[], id = newId()): Promise<void> {
    await system.database.pool.query(
      `insert into history (id, kind, party, key, fingerprint, state, code, attempt, admission, admitted_at, ended_at,
                            expires_at, facts)
       select $2, 'draft', gen_random_uuid(), gen_random_uuid(), '', 'failed', code, 1, gen_random_uuid(),
              now(), now(), now(), '{}' from unnest($1::text[]) code`,
      [codes, id],
    );
  }

  /** Adds live work of a kind. `worker` holds the work, if given. */
  async function addWork(
    kind: string,
    count: number,
    { worker = null as string | null, deadline = '2 hours' } = {},
  ) {
    await system.database.pool.query(
      `insert into work (id, kind, party, key, queued_at, state, attempt, admission, fingerprint, supersedable, worker,
                         waiters, cancel_on_disconnect, admitted_at, deadline_at, facts, input)
       select gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), now(),
              case when $3::uuid is null then 'queued' else 'running' end, 1, gen_random_uuid(), '', false, $3, '{}',
              false, now(), now() + $4::interval, '{}', '' from generate_series(1, $2)`,
      [kind, count, worker, deadline],
    );
  }

  async function addWorker(pools: Record<string, { slots: number; claimed: number }>): Promise<string> {
    const id = newId();
    await system.database.pool.query(
      `insert into processes (id, kind, pools, alive_until, since) values ($1, 'worker', $2, now() + interval '1 hour', now())`,
      [id, JSON.stringify(pools)],
    );
    return id;
  }

  it('the board adds "or more" to the failure counts of a kind of work from 1,000 failures on', async () => {
    await addHistory([...Array(600).fill('first_code'), ...Array(600).fill('second_code')]);
    const counts = [...(await boardWith('second_code')).matchAll(/data-head="Count">([^<]*)</g)].map(
      ([, count]) => count,
    );
    assert.equal(counts.length, 2);
    for (const count of counts) assert.match(count ?? '', /^\d{3} or more$/);
  });

  it('the board adds "or more" to a count of waiting work exactly when it has not counted all of the work', async () => {
    const worker = await addWorker({ batch: { slots: 100, claimed: 0 } });
    await addWork('sync', 20, { worker, deadline: '1 hour' });
    await addWork('sync', 1990);
    await addWork('predict_batch', 2050);
    const page = await boardWith('2,050');
    const waiting = (pool: string) =>
      new RegExp(`<h3>${pool} .*?<dt>Waiting</dt><dd>([^<]*)<`, 's').exec(page)?.[1];
    assert.deepEqual([waiting('memory'), waiting('batch')], ['1,980 or more', '2,050']);
  });

  it('the board finds work by its id even if the work was admitted before the recovery window began', async () => {
    for (const hours of [1.5, 2.5]) {
      const id = lowestIdAt(Date.now() - hours * HOUR_MS).replace('-0000-0000-', '-7000-8000-');
      await addHistory(['late_code'], id);
      assert.match(await (await operator.get(`find?id=${id}`)).text(), /failed: late_code/, `${hours} hours`);
    }
  });
});
