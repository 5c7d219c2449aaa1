import { connect, createServer } from 'node:net';
import { endTogether, listen } from './listening.ts';

/** PostgreSQL's message that ends an answer (ReadyForQuery), without its last byte, which varies. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

/**
 * A proxy to the database that can cut a connection in place of an answer, after the statement has been committed. A
 * process that has the proxy as its `DATABASE_URL` takes it for a pooler, and so sends the text of each statement.
 */
export interface LostAnswers extends AsyncDisposable {
  url: string;
  /** Loses the next answers to statements that call this SQL function. */
  lose(sqlFunction: string, answers: number): void;
  readonly left: number;
}

export async function startLostAnswers(target: string): Promise<LostAnswers> {
  const address = new URL(target);
  const { hostname, port } = address;
  let [lostFunction, left] = ['', 0];
  const server = createServer((client) => {
    const upstream = connect(Number(port) || 5432, hostname);
    endTogether(client, upstream);
    client.pipe(upstream);
    let isLosing = false;
    client.on('data', (chunk: Buffer) => {
      isLosing ||= left > 0 && chunk.includes(`${lostFunction}(`);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (!isLosing) return client.write(chunk);
      if (!chunk.subarray(-READY.length - 1, -1).equals(READY)) return;
      left -= 1;
      client.destroy();
    });
  });
  const proxy = await listen(server);
  address.hostname = '127.0.0.1';
  address.port = String(proxy.port);
  return {
    [Symbol.asyncDispose]: proxy.close,
    url: address.href,
    lose(sqlFunction, answers) {
      [lostFunction, left] = [sqlFunction, answers];
    },
    get left() {
      return left;
    },
  };
}
