import type { IngressConfig } from '../../shared/config/config.ts';
import { openDatabase } from '../../shared/db/orm.ts';
import { type RecordResult, recordBatch } from '../../shared/db/stores/recording/record.ts';
import type { RecordedEvent } from '../../shared/domain/recording.ts';
import type { Witness } from '../../shared/domain/witness.ts';
import type { Log } from '../../shared/log.ts';
import { ConcurrencyLimiter, type LimitedWork } from '../../shared/timing/concurrency-limiter.ts';

const UPLOAD_LIMITS = { capacity: 3, maxPerParty: 1, maxQueued: 100 };
/** Pause after a paced upload, as a multiple of the time that the upload took. */
const PAUSE_RATIO = 1;

export interface Sender {
  witness: Witness;
  /** Aborted when the caller disconnects. */
  gone: AbortSignal;
}

export interface UploadStore {
  /**
   * Throws `overloaded` when too many uploads of the account wait, or the caller is gone before its turn;
   * `quota_exceeded`; and `not_authenticated` when the account is gone or disabled.
   */
  recordBatch(accountId: string, events: readonly RecordedEvent[], sender: Sender): Promise<RecordResult>;
  close(): Promise<void>;
}

/**
 * Opens a store with its own database connections, so that no prediction waits for a connection that an upload holds.
 * While callers wait for work (`isBusy`), the store takes one upload at a time, with pauses, because each upload
 * occupies a core of the database server.
 */
export async function openUploads(
  config: Pick<IngressConfig, 'database' | 'quotas'>,
  isBusy: () => boolean,
  log: Log,
): Promise<UploadStore> {
  const uploadConfig = { database: { ...config.database, poolSize: UPLOAD_LIMITS.capacity } };
  const database = await openDatabase(uploadConfig, log, 'forecue web uploads');
  const limiter = new ConcurrencyLimiter(UPLOAD_LIMITS);
  const pacedLimiter = new ConcurrencyLimiter({ capacity: 1 });
  const storePaced = async (store: () => Promise<RecordResult>, piece: LimitedWork) => {
    const permit = await pacedLimiter.acquire(piece);
    const since = performance.now();
    try {
      return await store();
    } finally {
      setTimeout(() => permit.release(), PAUSE_RATIO * (performance.now() - since));
    }
  };
  return {
    recordBatch: (accountId, events, { witness, gone }) => {
      const store = () => recordBatch(database.pool, accountId, events, { witness, quotas: config.quotas });
      const piece = { party: accountId, gone };
      return limiter.run(() => (isBusy() ? storePaced(store, piece) : store()), piece);
    },
    close: () => database.close(),
  };
}
