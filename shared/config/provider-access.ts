import type { Env } from './env.ts';

export const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

/** Where the provider is, and the model that it is asked for. */
export interface ProviderAccess {
  /** Undefined when the operator must name the model. */
  defaultModel: string | undefined;
  /** Undefined without a key. */
  openai: { apiKey: string; baseUrl: string } | undefined;
}

/** In development without a key the built-in predictor is the default; otherwise the operator must name a model. */
export function readProviderAccess(env: Env, production: boolean): ProviderAccess {
  const apiKey = env.text('OPENAI_API_KEY');
  const baseUrl = env.url('OPENAI_BASE_URL', ['http:', 'https:']) ?? DEFAULT_BASE_URL;
  const builtIn = apiKey === undefined && !production ? 'local' : undefined;
  return {
    defaultModel: env.text('DEFAULT_MODEL') ?? builtIn,
    openai: apiKey === undefined ? undefined : { apiKey, baseUrl },
  };
}
