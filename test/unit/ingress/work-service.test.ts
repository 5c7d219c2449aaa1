import assert from 'node:assert/strict';
import type { Pool } from 'pg';
import type { LoadMonitor } from '../../../ingress/work/load-monitor.ts';
import { WorkService } from '../../../ingress/work/service.ts';
import { WaitingRoom } from '../../../ingress/work/waiting-room.ts';
import { Box } from '../../../shared/box.ts';
import { query } from '../../../shared/db/statement.ts';
import { createLog } from '../../../shared/log.ts';
import { predict } from '../../../shared/work/kinds.ts';
import { until } from '../../support/until.ts';

const CALL = {
  party: 'app-1',
  fingerprint: Buffer.alloc(32),
  userId: 'u',
  connectionId: null,
  line: null,
  wait: false,
  cancelOnDisconnect: true,
};

describe('work service', () => {
  const log = createLog('test', 'silent');
  let detached: string[];
  /** Errors of the tries to admit a request, in turn. */
  let admissionErrors: Error[];
  let work: WorkService;
  let room: WaitingRoom;
  beforeEach(() => {
    detached = [];
    room = new WaitingRoom(async () => new Map(), log);
    const pool = {
      query: async ({ values: [keys] }: { values: [string[]] }) => {
        detached.push(...keys);
        return { rows: [] };
      },
    };
    const admissionPool = { query: async () => Promise.reject(admissionErrors.shift()) };
    const served = {
      kind: predict,
      timeoutMs: 5000,
      admit: () =>
        query<never>(admissionPool as unknown as Pool, { name: 'admit', text: '' }, []).then(
          ([row]) => row as never,
        ),
      dispatch: () => assert.fail('nothing was admitted'),
    };
    work = new WorkService({
      pool: pool as unknown as Pool,
      process: 'process-1',
      kinds: new Map([[predict.name, served]]),
      load: {} as LoadMonitor,
      room,
      complete: () => assert.fail('nothing was admitted'),
      wakeUps: { announceEnded() {} },
      log,
    });
  });
  afterEach(() => room.close());

  const perform = (key: string) => {
    const call = { ...CALL, id: `id of ${key}`, key, facts: {} as never, input: new Box('{}') };
    return work.perform(predict, call, new AbortController().signal);
  };

  it('the ingress detaches from work whose admission failed, unless the admission never reached the database', async () => {
    const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    admissionErrors = [refused(), refused()];
    await assert.rejects(perform('key-1'), { code: 'ECONNREFUSED' });
    admissionErrors = [new Error('Connection terminated unexpectedly'), refused()];
    await assert.rejects(perform('key-2'), { code: 'ECONNREFUSED' });
    await until(() => detached.length > 0);
    assert.deepEqual(detached, ['key-2']);
  });
});
