import type { Server, Socket } from 'node:net';
import type { Log } from '../../shared/log.ts';
import { type IsTrusted, unmapped } from '../http/address.ts';
import { networkOf } from '../limits/network.ts';

/** Most connections of the process, and of one network: an IPv4 address or a /64 of IPv6. */
export interface ConnectionLimits {
  atOnce: number;
  perNetwork: number;
}

/** Shortest time between two log lines of refusals. */
const LOG_EVERY_MS = 60_000;

/**
 * Has a server close connections beyond the limits as soon as they are accepted, without an answer. Those of trusted
 * proxies count only towards the process's: they carry the requests of many clients, and a proxy limits its own.
 */
export function connectionLimits(
  { atOnce, perNetwork }: ConnectionLimits,
  isTrusted: IsTrusted,
  log: Log,
): (server: Server) => void {
  const open = new Map<string, number>();
  const refused = refusalLog(log);

  const admit = (socket: Socket) => {
    const address = unmapped(socket.remoteAddress ?? '');
    if (isTrusted(address, 0)) return;
    const network = networkOf(address);
    const others = open.get(network) ?? 0;
    if (others >= perNetwork) {
      refused('network');
      socket.destroy();
      return;
    }
    open.set(network, others + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  };

  return (server) => {
    server.maxConnections = atOnce;
    server.on('drop', () => refused('process'));
    server.on('connection', admit);
  };
}

/** Logs the first refusal of each minute: a storm of connections must not become one of lines. */
function refusalLog(log: Log): (limit: 'process' | 'network') => void {
  let quietUntil = 0;
  return (limit) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + LOG_EVERY_MS;
    log.warn({ limit }, 'connections are refused: too many are open');
  };
}
