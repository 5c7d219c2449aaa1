import assert from 'node:assert/strict';
import { randomOf } from '../../../bench/replies/random.ts';
import { exactInterval } from '../../../shared/domain/exact-interval.ts';

/** People who are asked to check 3 % of 3,000 decisions; halfway, the habits of some change. */
const PEOPLE = 100;
const DECISIONS = 3000;
const CHECKED = 0.03;

describe('interval of a precision', () => {
  it('the interval of a share is the one of Clopper and Pearson', () => {
    const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 0.0005, `${a} is not ${b}`);
    for (const [right, count, low, high] of [
      [90, 100, 0.8238, 0.951],
      [30, 30, 0.8843, 1],
      [0, 5, 0, 0.5218],
      [1, 1, 0.025, 1],
    ] as const) {
      const interval = exactInterval(right, count);
      near(interval.low, low);
      near(interval.high, high);
    }
  });

  it('the interval from what was checked holds the precision of all for 95 of 100 people who change', () => {
    const random = randomOf(51);
    const held = Array.from({ length: PEOPLE }, (_, person) => {
      const [before, after] = [1 - 0.1 * random(), person % 2 === 0 ? 1 - 0.1 * random() : random()];
      const decisions = Array.from({ length: DECISIONS }, (_, nth) => ({
        isRight: random() < (nth < DECISIONS / 2 ? before : after),
        isChecked: random() < CHECKED,
      }));
      const shareRight = decisions.filter(({ isRight }) => isRight).length / DECISIONS;
      const checked = decisions.filter(({ isChecked }) => isChecked);
      const { low, high } = exactInterval(checked.filter(({ isRight }) => isRight).length, checked.length);
      return low <= shareRight && shareRight <= high;
    });
    const count = held.filter(Boolean).length;
    assert.ok(count >= 95, `${count} of ${PEOPLE}`);
  });
});
