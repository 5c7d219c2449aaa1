import assert from 'node:assert/strict';
import { seededRandom } from '../../../bench/memory/random.ts';
import { compareTimes, type Round } from '../../support/same-times.ts';

const ROUNDS = 400;
const CALL_MS = 30;
const NOISE_MS = 4;

const random = seededRandom(1);

/** Makes rounds of long-tailed call durations, in which calls of the first class take `more(nth)` ms longer. */
function rounds(more: (nth: number) => number): Round[] {
  const call = () => CALL_MS - NOISE_MS * Math.log(1 - random.next());
  return Array.from({ length: ROUNDS }, (_, nth) => [
    [call() + more(nth), call() + more(nth)],
    [call(), call()],
  ]);
}

describe('timing comparison', () => {
  it('the timing comparison finds no difference between calls whose times have the same distribution', () => {
    const { classes, control } = compareTimes(rounds(() => 0));
    for (const { p, pOfAdvantage } of [classes, control]) {
      assert.ok(p > 0.01, `p ${p}`);
      assert.ok(pOfAdvantage > 0.01, `p of the advantage ${pOfAdvantage}`);
    }
    assert.ok(classes.plusMinusMs < 1, `± ${classes.plusMinusMs} ms`);
  });

  it('the timing comparison finds a shift of 1.5 ms in noise of 4 ms, and none between its control groups', () => {
    const { classes, control } = compareTimes(rounds(() => 1.5));
    assert.ok(classes.p < 0.001, `p ${classes.p}`);
    assert.ok(Math.abs(classes.ms - 1.5) < 2 * classes.plusMinusMs, `${classes.ms} ms`);
    assert.ok(control.p > 0.01, `p of the control ${control.p}`);
  });

  it('the timing comparison finds a difference between two groups of calls if only the spread of their times differs', () => {
    const { classes } = compareTimes(rounds((nth) => (nth % 2 === 0 ? 5 : -5)));
    assert.ok(classes.pOfAdvantage < 0.001, `p ${classes.pOfAdvantage}`);
    assert.ok(classes.advantage > 0.2, `advantage ${classes.advantage}`);
  });
});
