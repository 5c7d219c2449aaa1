import type { Env } from './env.ts';
import type { SettingName } from './settings.ts';

export const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

/** The way to a provider at an `https` address, by the names that `http.setGlobalProxyFromEnv` knows. */
interface Proxy {
  HTTPS_PROXY: string;
  NO_PROXY: string;
}

/** Address of the provider, and the model that it is asked for. */
export interface ProviderAccess {
  /** Undefined when the operator must name the model. */
  defaultModel: string | undefined;
  /** Undefined without a key. */
  openai: { apiKey: string; baseUrl: string; proxy?: Proxy | undefined } | undefined;
}

/** In development without a key the built-in predictor is the default; otherwise the operator must name a model. */
export function readProviderAccess(env: Env, production: boolean): ProviderAccess {
  const apiKey = env.text('OPENAI_API_KEY');
  const baseUrl = env.url('OPENAI_BASE_URL', ['http:', 'https:']) ?? DEFAULT_BASE_URL;
  const https = env.url('HTTPS_PROXY', ['http:', 'https:']);
  const direct = env.text('NO_PROXY') ?? '';
  const proxy = https === undefined ? undefined : { HTTPS_PROXY: https, NO_PROXY: direct };
  const builtIn = apiKey === undefined && !production ? 'local' : undefined;
  return {
    defaultModel: env.text('DEFAULT_MODEL') ?? builtIn,
    openai: apiKey === undefined ? undefined : { apiKey, baseUrl, proxy },
  };
}

/** Configuration of calls to providers. */
export interface ProviderSettings {
  /** By model. */
  prices: ModelPrices;
  /** Asked in this order while the provider of a model is in trouble. */
  fallbackModels: readonly string[];
  /** Most calls at once, over all workers; undefined: no limit. */
  concurrency: number | undefined;
  /** Interval at which a model that failed too often is tried, in milliseconds. */
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

/** The ids of models in a variable; undefined when it is unset. */
export function modelsIn(env: Env, name: SettingName): string[] | undefined {
  return env.parsed(name, parseModels, 'ids of models, comma separated');
}

function parseModels(value: string): string[] | undefined {
  const models = value.split(',').map((model) => model.trim());
  return models.includes('') ? undefined : models;
}

/** Prices by model, in millionths of a cent per token. */
export type ModelPrices = ReadonlyMap<string, { input: number; output: number }>;

/** A model's name may contain `=` and `:`, so the last ones count. */
const ENTRY = /^(?<model>.+)=(?<input>\d{1,6}(\.\d{1,6})?):(?<output>\d{1,6}(\.\d{1,6})?)$/;

/** A dollar per million tokens is 100 millionths of a cent per token. */
const MICROCENTS_PER_TOKEN = 100;

/** Parses `MODEL_PRICES`; undefined when an entry is malformed or a model occurs twice. */
export function parseModelPrices(value: string): ModelPrices | undefined {
  const prices = new Map<string, { input: number; output: number }>();
  for (const entry of value.split(',')) {
    const { model, input, output } = ENTRY.exec(entry.trim())?.groups ?? {};
    if (model === undefined || prices.has(model)) return undefined;
    prices.set(model, {
      input: Number(input) * MICROCENTS_PER_TOKEN,
      output: Number(output) * MICROCENTS_PER_TOKEN,
    });
  }
  return prices;
}
