import type { ImportedEvent } from '../../../shared/transcripts/conversation.ts';
import { Recorder } from '../../../shared/transcripts/recorder.ts';
import { FileReport } from '../../../shared/transcripts/report.ts';
import type { AccountClient } from '../../src/api.ts';

/**
 * Throws at the first batch that fails. Earlier batches stay recorded, and count as duplicates if they are sent again.
 */
export async function sendEvents(
  client: AccountClient,
  userId: string,
  events: readonly ImportedEvent[],
  say: (done: number, all: number) => void,
): Promise<FileReport> {
  const report = new FileReport('');
  // Skips the type check, since the server checks each event.
  const store = (batch: ImportedEvent[]) =>
    client.recordEvents(batch as Parameters<AccountClient['recordEvents']>[0]);
  const recorder = new Recorder(store, report, async () => userId);
  for (const [at, event] of events.entries()) {
    recorder.add(event, 0);
    if (!recorder.isFull && at + 1 < events.length) continue;
    await recorder.flush();
    say(at + 1, events.length);
  }
  return report;
}
