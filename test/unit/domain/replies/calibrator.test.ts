import assert from 'node:assert/strict';
import fc from 'fast-check';
import { randomOf } from '../../../../bench/replies/random.ts';
import {
  type CalibratorModel,
  confidenceOf,
  type Features,
  fitCalibrator,
  LABELS_MAX,
  type Label,
  PRIOR_CALIBRATOR,
} from '../../../../shared/domain/replies/calibrator.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const features: fc.Arbitrary<Features> = fc.record({
  raw: share,
  margin: fc.double({ min: -1, max: 1, noNaN: true }),
  support: share,
  needsUnknownFact: fc.boolean(),
  closed: fc.boolean(),
  words: fc.integer({ min: 0, max: 500 }),
});
const label: fc.Arbitrary<Label> = fc.record({
  features,
  agent: fc.constantFrom('coder', 'reviewer', 'planner'),
  model: fc.constantFrom('small', 'large'),
  right: fc.boolean(),
});
const labels = fc.array(label, { maxLength: 60 });
const REPLIER = { agent: 'coder', model: 'small' };

const featuresOf = (part: Partial<Features> = {}): Features => ({
  raw: 0.78,
  margin: 0.5,
  support: 0,
  needsUnknownFact: false,
  closed: true,
  words: 2,
  ...part,
});
const labelOf = (part: Partial<Features> = {}, isRight = true): Label => ({
  features: featuresOf(part),
  ...REPLIER,
  right: isRight,
});
const confidence = (calibrator: CalibratorModel, part?: Partial<Features>) =>
  confidenceOf(calibrator, featuresOf(part), REPLIER);

describe('calibrator', () => {
  it('without labels, a calibrator gives cautious confidences in the order of the raw probabilities', () => {
    const [sure, likely, unlikely] = [0.93, 0.78, 0.25].map((raw) => confidence(PRIOR_CALIBRATOR, { raw }));
    assert.ok((sure ?? 0) > (likely ?? 0) && (likely ?? 0) > (unlikely ?? 1));
    assert.ok((likely ?? 1) < 0.78 && (unlikely ?? 1) < 0.5);
  });

  it('a calibrator with any labels never lowers a confidence when the raw probability or the margin rises #reply-numbers', () => {
    fc.assert(
      fc.property(labels, features, share, share, (learned, one, a, b) => {
        const calibrator = fitCalibrator(learned);
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        for (const name of ['raw', 'margin'] as const)
          assert.ok(
            confidenceOf(calibrator, { ...one, [name]: low }, REPLIER) <=
              confidenceOf(calibrator, { ...one, [name]: high }, REPLIER),
          );
      }),
      { numRuns: 60 },
    );
  });

  it('a calibrator has the same weights whenever the labels are the same', () => {
    fc.assert(
      fc.property(labels, (learned) => {
        const again = structuredClone(learned);
        assert.deepEqual(fitCalibrator(again), fitCalibrator(learned));
        assert.deepEqual(JSON.parse(JSON.stringify(fitCalibrator(learned))), fitCalibrator(learned));
      }),
      { numRuns: 30 },
    );
  });

  it('a calibrator has finite weights even if 2000 labels all agree', () => {
    for (const isRight of [true, false]) {
      const calibrator = fitCalibrator(Array.from({ length: LABELS_MAX }, () => labelOf({}, isRight)));
      assert.ok(calibrator.weights.every(Number.isFinite));
      assert.ok(isRight ? confidence(calibrator) > 0.95 : confidence(calibrator) < 0.05);
    }
  });

  it('a calibrator raises confidences after acceptances, and lowers them after rejections', () => {
    const before = confidence(PRIOR_CALIBRATOR);
    assert.ok(confidence(fitCalibrator(Array.from({ length: 10 }, () => labelOf()))) > before);
    assert.ok(confidence(fitCalibrator(Array.from({ length: 10 }, () => labelOf({}, false)))) < before);
  });

  it('a calibrator gives the latest labels the most weight', () => {
    const old = Array.from({ length: 600 }, () => labelOf());
    const recent = Array.from({ length: 200 }, () => labelOf({}, false));
    assert.ok(
      confidence(fitCalibrator([...recent, ...old])) < confidence(fitCalibrator([...old, ...recent])),
    );
  });

  it('a calibrator uses only the latest 2000 labels', () => {
    const latest = Array.from({ length: LABELS_MAX }, (_, n) => labelOf({}, n % 3 > 0));
    assert.deepEqual(fitCalibrator([...latest, labelOf({}, false)]), fitCalibrator(latest));
  });

  it('a calibrator learns that replies to one agent are wrong more often than replies to another', () => {
    const learned = Array.from({ length: 40 }, (_, n) => ({
      ...labelOf({}, n % 2 === 0),
      agent: n % 2 === 0 ? 'easy' : 'hard',
    }));
    const calibrator = fitCalibrator(learned);
    const [easy, hard] = ['easy', 'hard'].map((agent) =>
      confidenceOf(calibrator, featuresOf(), { ...REPLIER, agent }),
    );
    assert.ok((easy ?? 0) > (hard ?? 1) + 0.1);
  });

  it("100 labels of an overconfident model bring the mean error of a calibrator's confidences down to 0.05", () => {
    const truth = (raw: number) => 1 / (1 + Math.exp(-(0.6 * Math.log(raw / (1 - raw)) - 1.3)));
    const next = randomOf(7);
    const draw = () => [0.93, 0.78, 0.5, 0.25][Math.floor(next() * 4)] ?? 0.5;
    const learned = Array.from({ length: 100 }, () => {
      const raw = draw();
      return labelOf({ raw, margin: 0.3 }, next() < truth(raw));
    });
    const calibrator = fitCalibrator(learned);
    const errors = Array.from({ length: 2000 }, () => {
      const raw = draw();
      return Math.abs(confidence(calibrator, { raw, margin: 0.3 }) - truth(raw));
    });
    const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
    assert.ok(mean <= 0.05, String(mean));
  });
});
