import { connect, createServer } from 'node:net';
import { endTogether, listen } from './listening.ts';

interface LossyDatabaseLink extends AsyncDisposable {
  url: string;
  readonly hasLost: boolean;
}

/** Starts a proxy that loses the answer to the first commit on a connection that has sent `statement`. */
export async function startLossyDatabaseLink(target: string, statement: string): Promise<LossyDatabaseLink> {
  const { protocol, username, password, hostname, port, pathname } = new URL(target);
  let hasLost = false;
  const server = createServer((client) => {
    const upstream = connect({ port: Number(port), host: hostname });
    endTogether(client, upstream);
    let [hasSent, isCommitting] = [false, false];
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      isCommitting = hasSent && !hasLost && /^Q.{4}commit\b/is.test(text);
      hasSent ||= text.includes(statement);
      upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => {
      if (!isCommitting) return client.write(chunk);
      hasLost = true;
      client.destroy();
    });
  });
  const proxy = await listen(server);
  const login = username && `${username}:${password}@`;
  return {
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
    url: `${protocol}//${login}127.0.0.1:${proxy.port}${pathname}`,
    get hasLost() {
      return hasLost;
    },
  };
}
