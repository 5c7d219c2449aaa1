import assert from 'node:assert/strict';
import { createLog } from '../../../shared/log.ts';
import { CallLedger } from '../../../workers/providers/ledger.ts';
import { bookedCall } from '../../support/booked-call.ts';
import { until } from '../../support/until.ts';

const LOG = createLog('test', 'silent');

describe('ledger buffer', () => {
  /** Makes a ledger over a store that fails while `down`. */
  function start() {
    const store = { down: false, stored: [] as string[], statements: 0 };
    const ledger = new CallLedger(async (calls) => {
      store.statements += 1;
      if (store.down) throw new Error('down');
      store.stored.push(...calls.map(({ id }) => id));
    }, LOG);
    const add = (count: number) => {
      const calls = Array.from({ length: count }, () => bookedCall());
      for (const call of calls) ledger.add(call, performance.now());
      return calls.map(({ id }) => id);
    };
    return { store, ledger, add };
  }

  it('the ledger buffer keeps rows while the store is down, and stores each once afterwards', async () => {
    const { store, ledger, add } = start();
    store.down = true;
    const before = add(3);
    await until(() => store.statements > 0);
    const after = add(2);
    store.down = false;
    await until(() => store.stored.length >= 5);
    await ledger.close();
    assert.deepEqual(store.stored, [...before, ...after]);
  });

  it('the ledger buffer keeps the first 20,000 rows while its store is down, and drops later rows', async () => {
    const { store, ledger, add } = start();
    store.down = true;
    const ids = add(20_002);
    await until(() => store.statements > 0);
    store.down = false;
    await ledger.close();
    assert.deepEqual(store.stored, ids.slice(0, 20_000));
  });

  it('closing the ledger buffer gives up within 5 s on a store that stays down', async () => {
    const { store, ledger, add } = start();
    store.down = true;
    add(1);
    const since = performance.now();
    await ledger.close();
    assert.ok(performance.now() - since < 5000);
    assert.deepEqual(store.stored, []);
  });
});
