import type { ImportedEvent } from '../../../shared/transcripts/conversation.ts';
import type { AccountClient } from '../../src/api.ts';

type Batch = Parameters<AccountClient['recordEvents']>[0];

const BATCH_MAX = 500;
const LENGTH_MAX = 2_000_000;

/** Records the events in batches, in order. May be repeated: events that are already there count as duplicates. */
export async function send(
  client: AccountClient,
  events: readonly ImportedEvent[],
  say: (done: number, all: number) => void,
): Promise<void> {
  let batch: ImportedEvent[] = [];
  let length = 0;
  let done = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    // The server checks each row itself, and reports which it refuses.
    await client.recordEvents(batch as unknown as Batch);
    done += batch.length;
    say(done, events.length);
    batch = [];
    length = 0;
  };
  for (const event of events) {
    batch.push(event);
    for (const value of Object.values(event)) length += value?.length ?? 0;
    if (batch.length >= BATCH_MAX || length >= LENGTH_MAX) await flush();
  }
  await flush();
}
