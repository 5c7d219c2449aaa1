import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface TestClock {
  /** Lets time pass, and the work that becomes due meanwhile run up to its next wait. */
  pass(ms: number): Promise<void>;
  /** Lets time pass until `work` settles, and settles like it. */
  during<T>(work: Promise<T>): Promise<T>;
}

const STEP_MS = 5;
const STEPS_MAX = 1000;

/** Stops all clocks and timers of this process during each test of the suite; only `pass` moves them. */
export function useClock(): TestClock {
  beforeEach(() => {
    const [startedAt, since] = [performance.now(), Date.now()];
    mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: since });
    mock.method(performance, 'now', () => startedAt + Date.now() - since);
  });
  afterEach(() => {
    mock.timers.reset();
    mock.restoreAll();
  });
  const step = async (ms: number) => {
    await nextTurn();
    mock.timers.tick(ms);
    await nextTurn();
  };
  return {
    async pass(ms) {
      const stepMs = Math.max(STEP_MS, Math.ceil(ms / STEPS_MAX));
      for (let left = ms; left > 0; left -= stepMs) await step(Math.min(left, stepMs));
    },
    async during(work) {
      let isSettled = false;
      const settle = () => {
        isSettled = true;
      };
      work.then(settle, settle);
      while (!isSettled) await step(STEP_MS);
      return work;
    },
  };
}
