import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Reports whether a connection that has brought nothing so far brings something now: it may have come while this
 * process stood still. Node then begins to count anew.
 */
export async function hasRequestPending(socket: Duplex): Promise<boolean> {
  if (!(socket instanceof Socket) || socket.bytesRead > 0) return false;
  // The first call only ends the current turn.
  await nextTurn();
  await nextTurn();
  return socket.bytesRead > 0;
}
