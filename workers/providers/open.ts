import type { WorkerConfig } from '../../shared/config/config.ts';
import type { Database } from '../../shared/db/orm.ts';
import { bookCalls } from '../../shared/db/stores/provider-calls.ts';
import { close } from '../../shared/lifecycle.ts';
import type { Log } from '../../shared/log.ts';
import { createProviders, type ProviderOf } from './index.ts';
import { CallLedger } from './ledger.ts';
import { metered } from './metered.ts';

/** Opens the providers of this process, with what they share with those of other processes. */
export async function openProviders(
  opening: AsyncDisposableStack,
  { openai, provider: { prices } }: Pick<WorkerConfig, 'openai' | 'provider'>,
  { pool }: Pick<Database, 'pool'>,
  log: Log,
): Promise<ProviderOf> {
  if (openai === undefined) return createProviders(undefined);
  const ledger = opening.adopt(new CallLedger((calls) => bookCalls(pool, calls), log), close);
  return createProviders(openai, (chat) => metered(chat, ledger, prices));
}
