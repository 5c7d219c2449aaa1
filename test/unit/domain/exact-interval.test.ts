import assert from 'node:assert/strict';
import { exactInterval } from '../../../shared/domain/exact-interval.ts';

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
});
