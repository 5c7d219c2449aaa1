import { setGlobalProxyFromEnv } from 'node:http';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { WorkerConfig } from '../../shared/config/config.ts';
import { addToLedger, tokensUsedUpForS } from '../../shared/db/stores/provider-calls.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import type { Log } from '../../shared/log.ts';
import { closePart } from '../../shared/process/lifecycle.ts';
import type { Chat } from './chat.ts';
import { withBestDialect } from './dialects.ts';
import { LanguageModel, withFallback } from './language-model.ts';
import { CallLedger, withinTokens, withLedger } from './ledger.ts';
import { LocalProvider } from './local.ts';
import { openAIChat } from './openai.ts';
import { ProviderPolicy, withPolicy } from './policy.ts';
import { isOutage, type Provider, ProviderError } from './provider.ts';

export type ProviderOf = (model: string) => Provider;

export interface ProvidersOptions {
  openai: WorkerConfig['openai'];
  /**
   * Models to ask, in this order, during an outage of a model's provider. `local` answers `predict`, but never `ask`.
   */
  fallbackModels?: readonly string[];
  around?: (chat: Chat) => Chat;
}

/** Without `openai`, calls to any model except `local` fail with `not_configured`. */
export function createProviders({
  openai,
  fallbackModels = [],
  around = (chat) => chat,
}: ProvidersOptions): ProviderOf {
  const local = new LocalProvider();
  if (openai === undefined) return (model) => (model === LOCAL_MODEL ? local : UNCONFIGURED_PROVIDER);
  const others = fallbackModels.filter((model) => model !== LOCAL_MODEL);
  const server = new LanguageModel(withFallback(withBestDialect(around(openAIChat(openai))), others));
  const remote = withLocalAlternatives(
    fallbackModels.includes(LOCAL_MODEL) ? withLocalFallback(server, local) : server,
    local,
  );
  return (model) => (model === LOCAL_MODEL ? local : remote);
}

/** Predicts with the built-in predictor during an outage of the provider. Structured questions still fail. */
function withLocalFallback(provider: Provider, local: Provider): Provider {
  return {
    ask: provider.ask,
    async predict(task, call) {
      try {
        return await provider.predict(task, call);
      } catch (error) {
        if (!isOutage(error)) throw error;
        return local.predict(task, call);
      }
    },
  };
}

/** Puts completions of the built-in predictor beside a model's, because they cost no tokens. */
function withLocalAlternatives(provider: Provider, local: Provider): Provider {
  return {
    ask: provider.ask,
    async predict(task, call) {
      const guess = await provider.predict(task, call);
      const { alternatives: wanted = 0 } = task;
      if (wanted === 0 || guess.completion === '' || guess.model === LOCAL_MODEL) return guess;
      const { completion, alternatives = [] } = await local.predict(task, call);
      const others = [completion, ...alternatives].filter((text) => text !== '' && text !== guess.completion);
      return { ...guess, alternatives: others.slice(0, wanted) };
    },
  };
}

const rejectUnconfigured = () => Promise.reject(new ProviderError('not_configured', 'no provider key'));
const UNCONFIGURED_PROVIDER: Provider = { predict: rejectUnconfigured, ask: rejectUnconfigured };

interface ProviderDependencies {
  config: WorkerConfig;
  em: () => EntityManager;
  log: Log;
}

export function openProviders(
  opening: AsyncDisposableStack,
  { config, em, log }: ProviderDependencies,
): ProviderOf {
  const { openai, provider } = config;
  if (openai === undefined) return createProviders({ openai });
  // Sets the proxy for the whole process. In a worker, only requests to providers use Node's global `https` agent.
  if (openai.proxy !== undefined) opening.defer(setGlobalProxyFromEnv({ ...openai.proxy }));
  const ledger = opening.adopt(new CallLedger((calls) => addToLedger(em(), calls), log), closePart);
  const policy = new ProviderPolicy({ ...provider, fairTimeoutMs: config.providerTimeoutMs / 2, log });
  opening.adopt(policy, closePart);
  // Without the database, calls go on: their answers are stored once it is back.
  const usedUpForS = (accountId: string) =>
    tokensUsedUpForS(em(), accountId, config.tokenQuotas).catch(() => null);
  return createProviders({
    openai,
    fallbackModels: provider.fallbackModels,
    around: (chat) => withPolicy(withinTokens(withLedger(chat, ledger, provider.prices), usedUpForS), policy),
  });
}
