/** What the confidence in a candidate is calibrated from. Plain numbers: no text of a person is in them. */
export interface Features {
  /** The probability that the predictor itself gives, from 0 to 1. */
  raw: number;
  /** By how much that exceeds the best of the other candidates; negative for those behind. */
  margin: number;
  /** Share of the person's replies to the most similar prompts that say the same, from 0 to 1. */
  support: number;
  /** Whether the predictor says that the answer needs something which it does not know. */
  needsUnknownFact: boolean;
  /** Whether an approval or a choice is asked for. */
  closed: boolean;
  words: number;
}

/** Bounds of a probability whose odds are taken. */
const [LEAST, MOST] = [0.005, 0.995];

/** The features as the numbers that the weights apply to; the first is for the intercept. */
export function vectorOf({ raw, margin, support, needsUnknownFact, closed, words }: Features): number[] {
  const p = Math.min(MOST, Math.max(LEAST, raw));
  return [
    1,
    Math.log(p / (1 - p)),
    margin,
    support,
    Number(needsUnknownFact),
    Number(closed),
    Math.log2(Math.max(1, words)),
  ];
}
