import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ConfidenceOutcome, reliabilityOf } from '../../../../shared/domain/replies/reliability.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const outcome: fc.Arbitrary<ConfidenceOutcome> = fc.record({ confidence: share, right: fc.boolean() });

/** Makes `count` decisions at one confidence, `right` of them right. */
const decisionsAt = (confidence: number, count: number, right: number): ConfidenceOutcome[] =>
  Array.from({ length: count }, (_, n) => ({ confidence, right: n < right }));

describe('calibration report', () => {
  it('the calibration report needs 52 right decisions for a precision target of 95 %, 25 for 90 % and 11 for 80 %', () => {
    for (const [target, labels] of [
      [0.95, 52],
      [0.9, 25],
      [0.8, 11],
    ] as const) {
      const early = reliabilityOf(decisionsAt(0.97, labels - 1, labels - 1), target);
      assert.deepEqual([early.suggested_threshold, early.evidence.reason], [null, 'too_little_feedback']);
      assert.equal(reliabilityOf(decisionsAt(0.97, labels, labels), target).suggested_threshold, 0.05);
    }
  });

  it('the calibration report suggests a threshold that reaches the target even if a higher one misses the target', () => {
    const outcomes = [
      ...decisionsAt(0.97, 15, 13),
      ...decisionsAt(0.82, 60, 60),
      ...decisionsAt(0.3, 30, 10),
    ];
    const { suggested_threshold, evidence } = reliabilityOf(outcomes, 0.9);
    assert.deepEqual([suggested_threshold, evidence.labels, evidence.reason], [0.35, 75, null]);
  });

  it('the calibration report suggests the lowest threshold with the target precision, and gives its evidence', () => {
    const outcomes = [
      ...decisionsAt(0.97, 60, 60),
      ...decisionsAt(0.82, 60, 60),
      ...decisionsAt(0.6, 30, 10),
    ];
    const { suggested_threshold, evidence, feedback_count } = reliabilityOf(outcomes);
    assert.deepEqual([suggested_threshold, feedback_count], [0.65, 150]);
    assert.deepEqual([evidence.labels, evidence.precision, evidence.coverage], [120, 1, 0.8]);
    assert.ok((evidence.precision_low ?? 0) >= 0.95);
    assert.equal(evidence.reason, null);
  });

  it('the calibration report has the mean squared error, and bins of nearly equal size with all decisions', () => {
    fc.assert(
      fc.property(fc.array(outcome, { minLength: 1, maxLength: 200 }), (outcomes) => {
        const { bins, brier } = reliabilityOf(outcomes);
        const counts = bins.map(({ count }) => count);
        assert.equal(
          counts.reduce((sum, count) => sum + count, 0),
          outcomes.length,
        );
        assert.ok(Math.max(...counts) - Math.min(...counts) <= 1);
        for (const { lo, hi, mean_confidence, observed } of bins) {
          assert.ok(lo <= mean_confidence + 1e-9 && mean_confidence <= hi + 1e-9);
          assert.ok(observed >= 0 && observed <= 1);
        }
        const squares = outcomes.map((one) => (one.confidence - Number(one.right)) ** 2);
        const mean = squares.reduce((sum, square) => sum + square, 0) / outcomes.length;
        assert.ok(Math.abs((brier ?? -1) - mean) < 1e-12);
      }),
    );
  });
});
