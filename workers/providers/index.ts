import type { WorkerConfig } from '../../shared/config/config.ts';
import { inBestFormat } from './formats.ts';
import { LanguageModel } from './language-model.ts';
import { LocalProvider } from './local.ts';
import { openAIChat } from './openai/chat.ts';
import { type Provider, ProviderError } from './provider.ts';

/** The provider of `defaultModel`. Without a key the process still starts, and predictions fail with `not_configured`. */
export function createProvider(config: Pick<WorkerConfig, 'defaultModel' | 'openai'>): Provider {
  if (config.defaultModel === 'local') return new LocalProvider();
  if (config.openai !== undefined) return new LanguageModel(inBestFormat(openAIChat(config.openai)));
  const missing = () => Promise.reject(new ProviderError('not_configured', 'no provider key'));
  return { predict: missing, ask: missing };
}
