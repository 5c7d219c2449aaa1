import { createHash } from 'node:crypto';
import type { WorkerConfig } from '../../shared/config/config.ts';
import type { Database } from '../../shared/db/orm.ts';
import { bookCalls } from '../../shared/db/stores/provider-calls.ts';
import {
  claimProbe,
  countWorkers,
  readCircuits,
  reportCircuit,
} from '../../shared/db/stores/provider-circuits.ts';
import { close } from '../../shared/lifecycle.ts';
import type { Log } from '../../shared/log.ts';
import type { Bus } from '../../shared/queue/bus.ts';
import { createProviders, type ProviderOf } from './index.ts';
import { CallLedger } from './ledger.ts';
import { metered } from './metered.ts';
import { guarded } from './policy/guarded.ts';
import { ProviderPolicy } from './policy/policy.ts';

interface ProviderParts {
  config: WorkerConfig;
  pool: Database['pool'];
  bus: Bus;
  log: Log;
}

/** Failures in a row, over all workers, that open a circuit. */
const FAILURES_TO_OPEN = 20;

/**
 * Opens the providers of this process, with what they share with those of other processes: the ledger, and the policy. A
 * process without a key opens neither.
 */
export async function openProviders(
  opening: AsyncDisposableStack,
  { config, pool, bus, log }: ProviderParts,
): Promise<ProviderOf> {
  const { openai, provider } = config;
  if (openai === undefined) return createProviders({ openai, fallbackModels: [] });
  const ledger = opening.adopt(new CallLedger((calls) => bookCalls(pool, calls), log), close);
  const channel = `${config.queuePrefix}_providers`;
  const terms = {
    provider: nameOf(openai.baseUrl),
    failuresToOpen: FAILURES_TO_OPEN,
    probeEveryMs: provider.probeEveryMs,
  };
  const policy = new ProviderPolicy({
    terms,
    concurrency: provider.concurrency,
    fairTimeoutMs: config.providerTimeoutMs / 2,
    shared: {
      report: (news) => reportCircuit(pool, terms, news),
      read: () => readCircuits(pool, terms),
      claimProbe: (model) => claimProbe(pool, terms, model),
      countWorkers: () => countWorkers(pool),
      announce: () => bus.publish([{ channel, payload: '' }]),
    },
    log,
  });
  opening.adopt(policy, close);
  await bus.listen(channel, () => policy.look());
  return createProviders({
    openai,
    fallbackModels: provider.fallbackModels,
    around: (chat) => guarded(metered(chat, ledger, provider.prices), policy),
  });
}

/** Tells providers apart without keeping an address that may have a password in it. */
function nameOf(baseUrl: string): string {
  return createHash('sha256').update(baseUrl).digest('hex').slice(0, 16);
}
