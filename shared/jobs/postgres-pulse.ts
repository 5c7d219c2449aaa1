import { Socket } from 'node:net';

/** How often a connection that only waits is asked whether it is still there. */
export const PULSE_EVERY_MS = 5000;
/** How long it may take to answer. */
export const PULSE_WITHIN_MS = 2000;
/** For a host that is gone. It does not help where something on the way still acknowledges: hence the pulse. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** The part of pg's client, and of what BullMQ knows of one, by which a connection is given up. */
export interface Connected {
  connection?: { stream?: unknown };
}

/** The socket under a connected client. `end` would be polite, and wait for a server that may not be there. */
export function socketOf({ connection }: Connected): Socket | undefined {
  return connection?.stream instanceof Socket ? connection.stream : undefined;
}
