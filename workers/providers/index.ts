import type { WorkerConfig } from '../../shared/config/config.ts';
import type { Chat } from './chat.ts';
import { inBestDialect } from './dialects.ts';
import { orLocal, withFallback } from './fallback.ts';
import { LanguageModel } from './language-model.ts';
import { LocalProvider } from './local.ts';
import { openAIChat } from './openai/chat.ts';
import { type Provider, ProviderError } from './provider.ts';

/** The provider that serves a model. */
export type ProviderOf = (model: string) => Provider;

export interface ProvidersOptions {
  openai: WorkerConfig['openai'];
  /** Tried in this order while a model's provider is in trouble; `local` for drafts alone. */
  fallbackModels?: readonly string[];
  /** Wraps what sends the requests. */
  around?: (chat: Chat) => Chat;
}

const LOCAL = 'local';

/**
 * The provider of each model: the built-in predictor of `local`, the configured server of any other. Without a key the
 * process still starts, and calls fail with `not_configured`.
 */
export function createProviders({
  openai,
  fallbackModels = [],
  around = (chat) => chat,
}: ProvidersOptions): ProviderOf {
  const local = new LocalProvider();
  if (openai === undefined) return (model) => (model === LOCAL ? local : UNCONFIGURED);
  const others = fallbackModels.filter((model) => model !== LOCAL);
  const server = new LanguageModel(withFallback(inBestDialect(around(openAIChat(openai))), others));
  const remote = fallbackModels.includes(LOCAL) ? orLocal(server, local) : server;
  return (model) => (model === LOCAL ? local : remote);
}

const missing = () => Promise.reject(new ProviderError('not_configured', 'no provider key'));
const UNCONFIGURED: Provider = { predict: missing, ask: missing };
