import assert from 'node:assert/strict';
import type { EntityManager } from '@mikro-orm/postgresql';
import { RecordingService } from '../../../ingress/recording/service.ts';
import { MIB } from '../../../shared/schemas/limits.ts';

const LARGE_EVENT = { id: 'large', size: MIB, body: null, receivedMs: 0 };
const BODY = '{"id":"large"}';

describe('reading large events', () => {
  it('a large event is not read for a caller that has left before its turn', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let readCount = 0;
    const execute = async (sql: string) => {
      if (sql.includes('octet_length')) return [LARGE_EVENT];
      readCount += 1;
      await released;
      return [{ body: BODY }];
    };
    const em = () => ({ execute }) as unknown as EntityManager;
    const recording = new RecordingService({ em, recordBatch: () => assert.fail() });
    const gone = new AbortController();
    const read = (signal: AbortSignal) =>
      recording.readEvent('ann', 'large', { reserve: async () => {}, signal });
    const staying = new AbortController().signal;
    const reads = [read(staying), read(staying)];
    const left = assert.rejects(read(gone.signal), { code: 'overloaded' });
    gone.abort();
    release();
    await left;
    for (const json of await Promise.all(reads)) assert.equal(JSON.parse(json).id, 'large');
    assert.equal(readCount, 2);
  });
});
