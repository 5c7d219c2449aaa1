import type { WorkerConfig } from '../../shared/config/config.ts';
import { LocalProvider } from './local.ts';
import { OpenAIProvider } from './openai.ts';
import { type Provider, ProviderError } from './provider.ts';

/** The provider of `defaultModel`. Without a key the process still starts, and predictions fail with `not_configured`. */
export function createProvider(config: Pick<WorkerConfig, 'defaultModel' | 'openai'>): Provider {
  if (config.defaultModel === 'local') return new LocalProvider();
  if (config.openai !== undefined) return new OpenAIProvider(config.openai);
  return { predict: () => Promise.reject(new ProviderError('not_configured', 'no provider key')) };
}
