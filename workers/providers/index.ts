import type { WorkerConfig } from '../../shared/config/config.ts';
import type { Chat } from './chat.ts';
import { inBestFormat } from './formats.ts';
import { LanguageModel } from './language-model.ts';
import { LocalProvider } from './local.ts';
import { openAIChat } from './openai/chat.ts';
import { type Provider, ProviderError } from './provider.ts';

/** The provider that serves a model. */
export type ProviderOf = (model: string) => Provider;

/**
 * The provider of each model: the built-in predictor of `local`, the configured server of any other. Without a key the
 * process still starts, and calls fail with `not_configured`. `around` wraps what sends the requests.
 */
export function createProviders(
  openai: WorkerConfig['openai'],
  around: (chat: Chat) => Chat = (chat) => chat,
): ProviderOf {
  const local = new LocalProvider();
  const remote =
    openai === undefined ? UNCONFIGURED : new LanguageModel(inBestFormat(around(openAIChat(openai))));
  return (model) => (model === 'local' ? local : remote);
}

const missing = () => Promise.reject(new ProviderError('not_configured', 'no provider key'));
const UNCONFIGURED: Provider = { predict: missing, ask: missing };
