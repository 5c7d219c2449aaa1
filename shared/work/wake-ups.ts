import { batcher } from '../db/batcher.ts';
import type { Flow } from '../db/stores/work/claim.ts';
import type { Log } from '../log.ts';
import type { Bus } from '../queue/bus.ts';

/**
 * `ended`, with ids: to every ingress, whose callers may wait, and to workers whose work waits for its parts. `cancel`, with
 * ids: to every worker, which may be running it. `admitted`, with flows (`kind:party`): to every worker, which may
 * have slots for them.
 */
export type Channel = 'ended' | 'cancel' | 'admitted';

export type Listeners = Partial<Record<Channel, (names: readonly string[]) => void>>;

/** A notification of PostgreSQL holds 8,000 bytes at most: these, as ids with the name of a kind. */
const MOST_NAMES = 140;

/**
 * Messages that say "look at these rows" and carry nothing else. Any of them may be lost, late or doubled: whoever
 * waits also polls its rows every second. They are sent after the commit; sending neither waits nor fails.
 */
export interface WakeUps {
  /** Work has ended: wakes whoever waits for it or runs it. */
  ended(ids: readonly string[]): void;
  /** Its own worker has ended the work: wakes whoever waits for it, at most `patienceMs` later. */
  completed(ids: readonly string[], patienceMs: number): void;
  /** Work of these flows was queued: wakes the workers that have slots for them. */
  admitted(flows: readonly Flow[]): void;
  /** Hears the wake-ups of these channels from now on. Called once. */
  listen(listeners: Listeners): Promise<void>;
  close(): Promise<void>;
}

interface Message {
  channel: Channel;
  name: string;
  patienceMs: number;
}

/** The flows that a message of the channel `admitted` names. */
export function flowsOf(names: readonly string[]): Flow[] {
  return names.map((name) => {
    const [kind = '', party = ''] = name.split(':');
    return { kind, party };
  });
}

/** Wake-ups on a bus, which stays its owner's. */
export function openWakeUps(
  bus: Bus,
  queuePrefix: string,
  log: Log,
  isBusy: () => boolean = () => false,
): WakeUps {
  const nameOf = (channel: Channel) => `${queuePrefix}_${channel}`;
  let listeners: Listeners = {};

  /** Sends wake-ups; those that arrive while a message is in flight share the next one. */
  const publish = batcher(
    async (batch: Message[]) => {
      const byChannel = [...Map.groupBy(batch, ({ channel }) => channel)];
      const messages = byChannel.map(([channel, wakeUps]) => ({
        channel: nameOf(channel),
        payload: [...new Set(wakeUps.map(({ name }) => name))].join(','),
      }));
      // Polls find the rows of a message that could not be sent.
      await bus
        .publish(messages)
        .catch((error: unknown) => log.warn({ err: error, count: batch.length }, 'could not send wake-ups'));
      return batch.map(() => undefined);
    },
    { most: MOST_NAMES, isBusy, patienceMs: ({ patienceMs }) => patienceMs },
  );

  let last = Promise.resolve();
  const send = (channel: Channel, names: readonly string[], patienceMs = 0) => {
    // This process need not wait for its own message.
    listeners[channel]?.(names);
    for (const name of names) last = publish({ channel, name, patienceMs });
  };
  return {
    ended(ids) {
      send('ended', ids);
      send('cancel', ids);
    },
    completed: (ids, patienceMs) => send('ended', ids, patienceMs),
    admitted: (flows) =>
      send(
        'admitted',
        flows.map(({ kind, party }) => `${kind}:${party}`),
      ),
    async listen(to) {
      listeners = to;
      for (const [channel, wake] of Object.entries(to))
        await bus.listen(nameOf(channel as Channel), (payload) => wake(payload.split(',')));
    },
    async close() {
      await last;
    },
  };
}
