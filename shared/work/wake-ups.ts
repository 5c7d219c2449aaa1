import { batcher } from '../db/batcher.ts';
import type { Log } from '../log.ts';
import type { Bus } from '../queue/bus.ts';

/**
 * `ended`: to every ingress, whose callers may wait, and to workers whose work waits for its parts. `cancel`: to every
 * worker, which may be running it.
 */
export type Channel = 'ended' | 'cancel';

type Wake = (ids: readonly string[]) => void;

/** A notification of PostgreSQL holds 8,000 bytes at most. */
const MOST_IDS = 200;

/**
 * Messages that say "look at these rows" and carry nothing else. Any of them may be lost, late or doubled: whoever
 * waits also polls its rows every second. They are sent after the commit; sending neither waits nor fails.
 */
export interface WakeUps {
  /** Milliseconds since the connection that listens for them last answered; it is asked every 5 s. */
  readonly silentMs: number;
  /** Work has ended: wakes whoever waits for it or runs it. */
  ended(ids: readonly string[]): void;
  /** Its own worker has ended the work: wakes whoever waits for it. */
  completed(ids: readonly string[]): void;
  close(): Promise<void>;
}

/** Sends wake-ups on a bus, which stays its owner's, and hears those of some channels. */
export async function openWakeUps(
  bus: Bus,
  queuePrefix: string,
  listeners: Partial<Record<Channel, Wake>>,
  log: Log,
  isBusy: () => boolean = () => false,
): Promise<WakeUps> {
  const nameOf = (channel: Channel) => `${queuePrefix}_${channel}`;
  for (const channel of ['ended', 'cancel'] as const) {
    const wake = listeners[channel];
    if (wake !== undefined) await bus.listen(nameOf(channel), (payload) => wake(payload.split(',')));
  }

  /** Ids that arrive while a message is in flight share the next one. */
  const publish = batcher(
    async (batch: { channel: Channel; id: string }[]) => {
      const byChannel = [...Map.groupBy(batch, ({ channel }) => channel)];
      const messages = byChannel.map(([channel, wakeUps]) => ({
        channel: nameOf(channel),
        payload: wakeUps.map(({ id }) => id).join(','),
      }));
      // Polls find the rows of a message that could not be sent.
      await bus
        .publish(messages)
        .catch((error: unknown) => log.warn({ err: error, count: batch.length }, 'could not send wake-ups'));
      return batch.map(() => undefined);
    },
    { most: MOST_IDS, isBusy },
  );

  let last = Promise.resolve();
  const send = (channel: Channel, ids: readonly string[]) => {
    // This process need not wait for its own message.
    listeners[channel]?.(ids);
    for (const id of ids) last = publish({ channel, id });
  };
  return {
    get silentMs() {
      return bus.silentMs;
    },
    ended(ids) {
      send('ended', ids);
      send('cancel', ids);
    },
    completed: (ids) => send('ended', ids),
    async close() {
      await last;
    },
  };
}
