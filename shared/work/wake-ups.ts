import { createBatcher } from '../db/batcher.ts';
import type { Log } from '../log.ts';
import type { Bus } from '../queue/bus.ts';
import type { Change } from '../schemas/changes.ts';

/**
 * Whom each channel wakes:
 *
 * - `ended`, with ids of work: ingresses whose callers may wait for it.
 * - `cancel`, with ids of work: workers that may be running it.
 * - `busy`, with nothing: every process, because one has something to do.
 * - `changed`, with ids of accounts and what has changed of each: ingresses whose callers may follow it.
 */
export type Channel = 'ended' | 'cancel' | 'changed' | 'busy';

export type Listeners = Partial<Record<Channel, (ids: readonly string[]) => void>>;

/** A PostgreSQL notification holds 8,000 bytes. An id has 36, and up to 12 more with what has changed. */
const IDS_PER_MESSAGE_MAX = 160;

/**
 * Messages that tell other processes to read certain rows again. A message may be lost, late or doubled, so each
 * waiting process also polls its rows at least once a second. Messages are sent after the commit. Sending neither
 * blocks nor fails.
 */
export interface WakeUps {
  /** `abortedIds` is the work that a worker may still run: all of it by default. */
  announceEnded(ids: readonly string[], abortedIds?: readonly string[]): void;
  /** Nothing polls for changes: a message that is lost leaves those who follow them with what they know. */
  announceChanged(accountId: string, change: Change): void;
  announceBusy(): void;
  /** May be called only once. */
  listen(listeners: Listeners): Promise<void>;
  close(): Promise<void>;
}

interface WakeUp {
  channel: Channel;
  id: string;
}

/** Closing the wake-ups leaves the bus open. */
export function openWakeUps(bus: Bus, queuePrefix: string, log: Log): WakeUps {
  const busChannel = (channel: Channel) => `${queuePrefix}_${channel}`;
  let listeners: Listeners = {};

  const publish = createBatcher(
    async (batch: WakeUp[]) => {
      const byChannel = [...Map.groupBy(batch, ({ channel }) => channel)];
      const messages = byChannel.map(([channel, wakeUps]) => ({
        channel: busChannel(channel),
        payload: [...new Set(wakeUps.map(({ id }) => id))].join(','),
      }));
      // Not fatal: if a message cannot be sent, polling finds its rows.
      await bus
        .publish(messages)
        .catch((error: unknown) => log.warn({ err: error, count: batch.length }, 'could not send wake-ups'));
      return batch.map(() => undefined);
    },
    // Ids of one turn of the event loop share a message.
    { maxItems: IDS_PER_MESSAGE_MAX, isBusy: () => true },
  );

  let lastSent = Promise.resolve();
  const send = (channel: Channel, ids: readonly string[]) => {
    // Calls this process's own listener at once, without the bus.
    listeners[channel]?.(ids);
    for (const id of ids) lastSent = publish({ channel, id });
  };
  return {
    announceEnded(ids, abortedIds = ids) {
      send('ended', ids);
      send('cancel', abortedIds);
    },
    announceChanged(accountId, change) {
      send('changed', [`${accountId} ${change}`]);
    },
    announceBusy() {
      send('busy', ['']);
    },
    async listen(newListeners) {
      listeners = newListeners;
      for (const [channel, wake] of Object.entries(newListeners))
        await bus.listen(busChannel(channel as Channel), (payload) => wake(payload.split(',')));
    },
    async close() {
      await lastSent;
    },
  };
}
