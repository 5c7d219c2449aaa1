import { createBatcher } from '../db/batcher.ts';
import type { Flow } from '../db/stores/work/claim.ts';
import type { Log } from '../log.ts';
import type { Bus } from '../queue/bus.ts';

/**
 * Whom each channel wakes:
 *
 * - `ended`, with ids of work: ingresses whose callers may wait for it, and workers whose work waits for its parts.
 * - `cancel`, with ids of work: workers that may be running it.
 * - `admitted`, with flows (`kind:party`): workers that may have free slots for them.
 */
export type Channel = 'ended' | 'cancel' | 'admitted';

export type Listeners = Partial<Record<Channel, (names: readonly string[]) => void>>;

/** A PostgreSQL notification holds 8,000 bytes. The longest name consists of a kind and an id. */
const NAMES_PER_MESSAGE_MAX = 140;

/**
 * Messages that tell other processes to read certain rows again. A message may be lost, late or doubled, so each
 * waiting process also polls its rows at least once a second. Messages are sent after the commit. Sending neither
 * blocks nor fails.
 */
export interface WakeUps {
  announceEnded(ids: readonly string[]): void;
  /** Delays the message by at most `patienceMs`, to combine it with others. */
  announceCompleted(ids: readonly string[], patienceMs: number): void;
  announceAdmitted(flows: readonly Flow[]): void;
  /** May be called only once. */
  listen(listeners: Listeners): Promise<void>;
  close(): Promise<void>;
}

interface WakeUp {
  channel: Channel;
  name: string;
  patienceMs: number;
}

export function flowsOf(names: readonly string[]): Flow[] {
  return names.map((name) => {
    const [kind = '', party = ''] = name.split(':');
    return { kind, party };
  });
}

/** Closing the wake-ups leaves the bus open. */
export function openWakeUps(
  bus: Bus,
  queuePrefix: string,
  log: Log,
  isBusy: () => boolean = () => false,
): WakeUps {
  const busChannel = (channel: Channel) => `${queuePrefix}_${channel}`;
  let listeners: Listeners = {};

  const publish = createBatcher(
    async (batch: WakeUp[]) => {
      const byChannel = [...Map.groupBy(batch, ({ channel }) => channel)];
      const messages = byChannel.map(([channel, wakeUps]) => ({
        channel: busChannel(channel),
        payload: [...new Set(wakeUps.map(({ name }) => name))].join(','),
      }));
      // Not fatal: if a message cannot be sent, polling finds its rows.
      await bus
        .publish(messages)
        .catch((error: unknown) => log.warn({ err: error, count: batch.length }, 'could not send wake-ups'));
      return batch.map(() => undefined);
    },
    { maxItems: NAMES_PER_MESSAGE_MAX, isBusy, patienceMs: ({ patienceMs }) => patienceMs },
  );

  let lastSent = Promise.resolve();
  const send = (channel: Channel, names: readonly string[], patienceMs = 0) => {
    // Calls this process's own listener at once, without the bus.
    listeners[channel]?.(names);
    for (const name of names) lastSent = publish({ channel, name, patienceMs });
  };
  return {
    announceEnded(ids) {
      send('ended', ids);
      send('cancel', ids);
    },
    announceCompleted: (ids, patienceMs) => send('ended', ids, patienceMs),
    announceAdmitted: (flows) =>
      send(
        'admitted',
        flows.map(({ kind, party }) => `${kind}:${party}`),
      ),
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
