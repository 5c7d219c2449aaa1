import type { Env } from './env.ts';
import { type ModelPrices, parseModelPrices } from './model-prices.ts';
import { modelsIn } from './models.ts';

/** How workers deal with providers. */
export interface ProviderSettings {
  /** By model. */
  prices: ModelPrices;
  /** Asked in this order while the provider of a model is in trouble. */
  fallbackModels: readonly string[];
  /** Most calls at once, over all workers; undefined: no limit. */
  concurrency: number | undefined;
  /** How often a model that failed too often is tried, in milliseconds. */
  probeEveryMs: number;
}

const PRICES = 'a list model=input:output,… in US dollars per million tokens';

/** Reads them. */
export function readProviderSettings(env: Env): ProviderSettings {
  return {
    prices: env.parsed('MODEL_PRICES', parseModelPrices, PRICES) ?? new Map(),
    fallbackModels: modelsIn(env, 'FALLBACK_MODELS') ?? [],
    // 0 is no limit.
    concurrency: env.integer('PROVIDER_CONCURRENCY', 0, { min: 0, max: 100_000 }) || undefined,
    probeEveryMs: env.integer('PROVIDER_PROBE_EVERY_MS', 5000, { min: 100, max: 600_000 }),
  };
}
