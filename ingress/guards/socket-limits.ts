import type { Server, Socket } from 'node:net';
import type { Log } from '../../shared/log.ts';
import { type IsTrusted, networkOf, unwrapIpv4 } from '../request/address.ts';

/** Maximum open connections of the process, and of one network (an IPv4 address or an IPv6 /64). */
export interface ConnectionLimits {
  atOnce: number;
  perNetwork: number;
}

const LOG_EVERY_MS = 60_000;

/**
 * Makes a server close connections beyond the limits without an answer. A trusted proxy carries the requests of many
 * clients, so its connections count only towards `atOnce`.
 */
export function socketLimiter(
  { atOnce, perNetwork }: ConnectionLimits,
  isTrusted: IsTrusted,
  log: Log,
): (server: Server) => void {
  const open = new Map<string, number>();
  const logRefusal = refusalLog(log);

  const admit = (socket: Socket) => {
    const address = unwrapIpv4(socket.remoteAddress ?? '');
    if (isTrusted(address, 0)) return;
    const network = networkOf(address);
    const otherConnections = open.get(network) ?? 0;
    if (otherConnections >= perNetwork) {
      logRefusal('network');
      socket.destroy();
      return;
    }
    open.set(network, otherConnections + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left === 0) open.delete(network);
      else open.set(network, left);
    });
  };

  return (server) => {
    server.maxConnections = atOnce;
    server.on('drop', () => logRefusal('process'));
    server.on('connection', admit);
  };
}

function refusalLog(log: Log): (limit: 'process' | 'network') => void {
  let quietUntil = 0;
  return (limit) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + LOG_EVERY_MS;
    log.warn({ limit }, 'connections are refused: too many are open');
  };
}
