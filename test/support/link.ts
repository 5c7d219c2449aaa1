import { createServer, type IncomingHttpHeaders, type Server, request as send } from 'node:http';
import { listen } from './listening.ts';

export interface LinkedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
}

interface Hooks {
  /** Called before a request is forwarded; may change its headers. */
  before?(request: LinkedRequest): Promise<void> | void;
  /** Called before the answer is passed on. */
  after?(request: LinkedRequest, status: number): void;
}

/** A proxy whose connections a test can cut, as a network does. */
interface Link extends AsyncDisposable {
  url: string;
  requests: LinkedRequest[];
  cut(): void;
}

export async function startLink(target: string, { before, after }: Hooks = {}): Promise<Link> {
  const requests: LinkedRequest[] = [];
  const server: Server = createServer(async (incoming, outgoing) => {
    const { method = '', url: path = '/', headers } = incoming;
    const request = { method, path, headers };
    requests.push(request);
    await before?.(request);
    const forwarded = send(target + path, { method, headers }, (answer) => {
      const { statusCode = 0 } = answer;
      after?.(request, statusCode);
      outgoing.writeHead(statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  return { ...(await listen(server)), requests, cut: () => server.closeAllConnections() };
}
