import type { Env } from './env.ts';
import { type ModelPrices, parseModelPrices } from './model-prices.ts';

/** How workers deal with providers. */
export interface ProviderSettings {
  /** By model. */
  prices: ModelPrices;
}

/** Reads them. */
export function readProviderSettings(env: Env): ProviderSettings {
  const prices = env.parsed('MODEL_PRICES', parseModelPrices, PRICES);
  return { prices: prices ?? new Map() };
}

const PRICES = 'a list model=input:output,… in US dollars per million tokens';
