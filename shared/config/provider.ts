import type { Env } from './env.ts';
import type { SettingName } from './settings.ts';

export const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

/** Named as `http.setGlobalProxyFromEnv` requires. */
interface ProxySettings {
  HTTPS_PROXY: string;
  NO_PROXY: string;
}

export interface ProviderAccess {
  /** Undefined: the operator must name a model. */
  defaultModel: string | undefined;
  /** Model that completes drafts. */
  tabModel: string | undefined;
  openai: { apiKey: string; baseUrl: string; proxy?: ProxySettings | undefined } | undefined;
}

/**
 * The default model is the built-in predictor in development without a key; otherwise the operator must name a model.
 */
export function readProviderAccess(env: Env, production: boolean): ProviderAccess {
  const apiKey = env.header('OPENAI_API_KEY');
  const baseUrl = env.base('OPENAI_BASE_URL') ?? DEFAULT_BASE_URL;
  const https = env.url('HTTPS_PROXY', ['http:', 'https:']);
  const direct = env.text('NO_PROXY') ?? '';
  const proxy = https === undefined ? undefined : { HTTPS_PROXY: https, NO_PROXY: direct };
  const builtIn = apiKey === undefined && !production ? 'local' : undefined;
  const defaultModel = modelIn(env, 'DEFAULT_MODEL') ?? builtIn;
  return {
    defaultModel,
    tabModel: modelIn(env, 'TAB_MODEL') ?? defaultModel,
    openai: apiKey === undefined ? undefined : { apiKey, baseUrl, proxy },
  };
}

function modelIn(env: Env, name: SettingName): string | undefined {
  return env.parsed(name, parseModel, 'the id of a model, without quotes');
}

/** Quotes are left over from a file of settings: `docker --env-file` takes them for a part of the value. */
function parseModel(value: string): string | undefined {
  return /^["']|["']$/.test(value) ? undefined : value;
}

const PRICES_FORMAT = 'a list model=input:output,… in US dollars per million tokens';
const NO_PRICES: ModelPrices = new Map();

export function readProviderSettings(env: Env) {
  return {
    prices: env.parsed('MODEL_PRICES', parseModelPrices, PRICES_FORMAT) ?? NO_PRICES,
    /** Models to ask in this order during an outage of a model's provider. */
    fallbackModels: modelsIn(env, 'FALLBACK_MODELS') ?? [],
    /** Maximum number of concurrent calls of a process. Undefined: no limit. */
    concurrency: env.integer('PROVIDER_CONCURRENCY', 0, { min: 0, max: 100_000 }) || undefined,
    /** Interval at which a model that failed too often is probed. */
    probeEveryMs: env.integer('PROVIDER_PROBE_EVERY_MS', 5000, { min: 100, max: 600_000 }),
  };
}

export function modelsIn(env: Env, name: SettingName): string[] | undefined {
  return env.parsed(name, parseModels, 'ids of models, comma separated, without quotes');
}

function parseModels(value: string): string[] | undefined {
  const models = value.split(',').map((model) => model.trim());
  return models.every(parseModel) ? models : undefined;
}

/** Prices by model, in millionths of a cent per token. */
export type ModelPrices = ReadonlyMap<string, { input: number; output: number }>;

/** A model's name may contain `=` and `:`, so the last ones are the separators. */
const PRICE_ENTRY = /^(?<model>.+)=(?<input>\d{1,6}(\.\d{1,6})?):(?<output>\d{1,6}(\.\d{1,6})?)$/;

/** One US dollar per million tokens, in millionths of a cent per token. */
const MICROCENTS_PER_TOKEN = 100;

/** Returns undefined if an entry is malformed or a model occurs twice. */
function parseModelPrices(value: string): ModelPrices | undefined {
  const prices = new Map<string, { input: number; output: number }>();
  for (const entry of value.split(',')) {
    const { model, input, output } = PRICE_ENTRY.exec(entry.trim())?.groups ?? {};
    if (model === undefined || prices.has(model)) return undefined;
    prices.set(model, {
      input: Number(input) * MICROCENTS_PER_TOKEN,
      output: Number(output) * MICROCENTS_PER_TOKEN,
    });
  }
  return prices;
}
