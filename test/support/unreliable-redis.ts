import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { endTogether, listen } from './listening.ts';

export interface Fates {
  passed: number;
  dropped: number;
  doubled: number;
  delayed: number;
}

const LONGEST_DELAY_MS = 3000;

/** A proxy that drops, duplicates, delays or forwards each wake-up, and changes nothing else. */
export async function startUnreliableRedis(
  target: string,
): Promise<AsyncDisposable & { url: string; fates: Fates }> {
  const { hostname, port } = new URL(target);
  const fates: Fates = { passed: 0, dropped: 0, doubled: 0, delayed: 0 };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) socket.setNoDelay(true);
    endTogether(client, upstream);
    client.pipe(upstream);
    let pending = Buffer.alloc(0);
    upstream.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      let start = 0;
      for (let end = frameEnd(pending, start); end !== undefined; end = frameEnd(pending, start)) {
        const frame = pending.subarray(start, end);
        if (isWakeUp(frame)) void deliverByChance(frame, client, fates);
        else client.write(frame);
        start = end;
      }
      pending = pending.subarray(start);
    });
  });
  const proxy = await listen(server);
  return {
    ...proxy,
    url: `redis://127.0.0.1:${proxy.port}`,
    fates,
  };
}

async function deliverByChance(wakeUp: Buffer, client: Socket, fates: Fates): Promise<void> {
  const all = Object.keys(fates) as (keyof Fates)[];
  const fate = all[Math.floor(Math.random() * all.length)] ?? 'passed';
  fates[fate] += 1;
  if (fate === 'dropped') return;
  if (fate === 'delayed') await sleep(LONGEST_DELAY_MS * Math.random());
  if (client.destroyed) return;
  client.write(wakeUp);
  if (fate === 'doubled') client.write(wakeUp);
}

/** A wake-up is an array (RESP 2) or push (RESP 3) of `message`, the channel's name and the content. */
function isWakeUp(frame: Buffer): boolean {
  return /^[*>]3\r\n\$7\r\nmessage\r\n\$\d+\r\n\S+_(ended|cancel|admitted)\r\n/.test(
    frame.toString('latin1', 0, 200),
  );
}

/** Returns the end of the Redis protocol value that begins at `start`; undefined if part of it has not arrived yet. */
function frameEnd(buffer: Buffer, start: number): number | undefined {
  const line = buffer.indexOf('\r\n', start);
  if (line === -1) return undefined;
  const type = String.fromCharCode(buffer[start] ?? 0);
  const size = Number(buffer.toString('latin1', start + 1, line));
  let end: number | undefined = line + 2;
  if ('$=!'.includes(type)) {
    if (size >= 0) end += size + 2;
    return end <= buffer.length ? end : undefined;
  }
  const values = '*~>'.includes(type) ? size : '%|'.includes(type) ? 2 * size : 0;
  for (let n = 0; n < values && end !== undefined; n += 1) end = frameEnd(buffer, end);
  return end;
}
