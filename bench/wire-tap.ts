import { connect, createServer } from 'node:net';
import { endTogether, listen } from '../test/support/listening.ts';

export interface TappedMessage {
  at: number;
  who: string;
  /** A statement or command that was sent, or a wake-up that arrived unasked. */
  kind: 'sent' | 'pushed';
  what: string;
  /** True if this begins a round trip: the process sends for the first time since the store last answered. */
  roundTrip: boolean;
}

/** Readers for the two directions of a connection; each returns what a chunk of bytes completes. */
export interface Protocol {
  readSent(): (chunk: Buffer) => string[];
  readPushed(): (chunk: Buffer) => string[];
}

export interface Tap {
  url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function tap(
  who: string,
  target: string,
  protocol: Protocol,
  hear: (heard: TappedMessage) => void,
): Promise<Tap> {
  const { hostname, port } = new URL(target);
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true });
    client.setNoDelay(true);
    const [readSent, readPushed] = [protocol.readSent(), protocol.readPushed()];
    let answered = true;
    client.on('data', (chunk: Buffer) => {
      upstream.write(chunk);
      for (const what of readSent(chunk)) {
        hear({ at: performance.now(), who, kind: 'sent', what, roundTrip: answered });
        answered = false;
      }
    });
    upstream.on('data', (chunk: Buffer) => {
      client.write(chunk);
      const wakeUps = readPushed(chunk);
      for (const what of wakeUps)
        hear({ at: performance.now(), who, kind: 'pushed', what, roundTrip: false });
      answered ||= wakeUps.length === 0;
    });
    endTogether(client, upstream);
  });
  const tap = await listen(server);
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(tap.port);
  return {
    url: url.href,
    [Symbol.asyncDispose]: tap.close,
  };
}
