import assert from 'node:assert/strict';
import { createLog } from '../../../shared/log.ts';
import { type HeldRows, RunningAttempts } from '../../../workers/work/running.ts';
import { until } from '../../support/until.ts';

describe('running attempts', () => {
  let running: RunningAttempts | undefined;
  afterEach(() => running?.close());

  it('release a row that ended here while it was being reclaimed: nobody else would run it', async () => {
    const reclaiming = Promise.withResolvers<string[]>();
    const asked: string[] = [];
    const released: string[] = [];
    const rows: HeldRows = {
      among: async () => new Map(),
      reclaim: async (attempts) => {
        asked.push(...attempts.keys());
        return reclaiming.promise;
      },
      strays: async () => [],
      release: async (ids) => void released.push(...ids),
    };
    running = new RunningAttempts(rows, createLog('test', 'silent'));
    const [ended, goesOn] = [
      { id: 'ended', attempt: 1 },
      { id: 'goes on', attempt: 1 },
    ];
    running.begin(ended);
    const { signal } = running.begin(goesOn);
    running.look();
    await until(() => asked.length === 2);
    running.finish(ended);
    reclaiming.resolve(asked);
    await until(() => released.length > 0);
    assert.deepEqual(released, ['ended']);
    assert.equal(signal.aborted, false);
  });
});
