/**
 * Models answer with one of these words, because they judge words better than numbers (Tian et al. 2023, "Just Ask for
 * Calibration").
 */
export const LIKELIHOOD_PROBABILITIES = {
  almost_certain: 0.93,
  likely: 0.78,
  even: 0.5,
  unlikely: 0.25,
  very_unlikely: 0.1,
  guess: 0.03,
} as const;

export type Likelihood = keyof typeof LIKELIHOOD_PROBABILITIES;
export const LIKELIHOODS = Object.keys(LIKELIHOOD_PROBABILITIES) as Likelihood[];
