import { Socket } from 'node:net';

/** How often an idle connection is probed. */
export const PULSE_EVERY_MS = 5000;
/** How long the answer may take. */
export const PULSE_WITHIN_MS = 2000;
/** Notices a host that is gone, but not if something on the way still acknowledges: hence the pulse. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** The part of pg's client, and of BullMQ's type for one, that leads to its socket. */
export interface Connected {
  connection?: { stream?: unknown };
}

/** The socket of a connected client. `end` would wait for a server that may be gone. */
export function socketOf({ connection }: Connected): Socket | undefined {
  return connection?.stream instanceof Socket ? connection.stream : undefined;
}
