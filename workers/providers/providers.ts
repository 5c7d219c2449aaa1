import { createHash } from 'node:crypto';
import { setGlobalProxyFromEnv } from 'node:http';
import type { WorkerConfig } from '../../shared/config/config.ts';
import type { Database } from '../../shared/db/orm.ts';
import { addToLedger } from '../../shared/db/stores/provider-calls.ts';
import {
  claimProbe,
  countWorkers,
  readCircuits,
  reportCircuit,
} from '../../shared/db/stores/provider-circuits.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import type { Log } from '../../shared/log.ts';
import { closePart } from '../../shared/process/lifecycle.ts';
import type { Bus } from '../../shared/queue/bus.ts';
import type { Chat } from './chat.ts';
import { withBestDialect } from './dialects.ts';
import { LanguageModel, withFallback } from './language-model.ts';
import { CallLedger, withLedger } from './ledger.ts';
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
  const remote = fallbackModels.includes(LOCAL_MODEL) ? withLocalFallback(server, local) : server;
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

const rejectUnconfigured = () => Promise.reject(new ProviderError('not_configured', 'no provider key'));
const UNCONFIGURED_PROVIDER: Provider = { predict: rejectUnconfigured, ask: rejectUnconfigured };

interface ProviderDependencies {
  config: WorkerConfig;
  pool: Database['pool'];
  bus: Bus;
  log: Log;
}

/** Number of consecutive failures, over all workers, that open a circuit. */
const FAILURES_TO_OPEN = 20;

export async function openProviders(
  opening: AsyncDisposableStack,
  { config, pool, bus, log }: ProviderDependencies,
): Promise<ProviderOf> {
  const { openai, provider } = config;
  if (openai === undefined) return createProviders({ openai });
  // Sets the proxy for the whole process. In a worker, only requests to providers use Node's global `https` agent.
  if (openai.proxy !== undefined) opening.defer(setGlobalProxyFromEnv({ ...openai.proxy }));
  const ledger = opening.adopt(new CallLedger((calls) => addToLedger(pool, calls), log), closePart);
  const channel = `${config.queuePrefix}_providers`;
  const settings = {
    provider: providerFingerprint(openai.baseUrl),
    failuresToOpen: FAILURES_TO_OPEN,
    probeEveryMs: provider.probeEveryMs,
  };
  const policy = new ProviderPolicy({
    settings,
    concurrency: provider.concurrency,
    fairTimeoutMs: config.providerTimeoutMs / 2,
    shared: {
      report: (news) => reportCircuit(pool, settings, news),
      read: () => readCircuits(pool, settings),
      claimProbe: (model) => claimProbe(pool, settings, model),
      countWorkers: () => countWorkers(pool),
      announce: () => bus.publish([{ channel, payload: '' }]),
    },
    log,
  });
  opening.adopt(policy, closePart);
  await bus.listen(channel, () => policy.startExchange());
  return createProviders({
    openai,
    fallbackModels: provider.fallbackModels,
    around: (chat) => withPolicy(withLedger(chat, ledger, provider.prices), policy),
  });
}

/** Hides the address, which may contain a password. */
function providerFingerprint(baseUrl: string): string {
  return createHash('sha256').update(baseUrl).digest('hex').slice(0, 16);
}
