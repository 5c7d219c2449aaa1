import { createServer, request as send } from 'node:http';
import { listen } from './listening.ts';

/** A proxy that loses the first answer to each of `paths`; of an event stream, what follows the first result. */
interface LossyLink extends AsyncDisposable {
  url: string;
  cut: string[];
}

export async function startLossyLink(target: string, paths: readonly string[]): Promise<LossyLink> {
  const cut: string[] = [];
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url: path = '/' } = incoming;
    const forwarded = send(target + path, { method, headers }, (answer) => {
      const isLost = paths.includes(path) && !cut.includes(path);
      if (isLost) cut.push(path);
      const isStream = answer.headers['content-type'] === 'text/event-stream';
      if (isLost && !isStream) return outgoing.destroy();
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      if (!isLost) return answer.pipe(outgoing);
      let sent = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        const firstResult = /^.*?event: result\n.*?\n\n/s.exec(sent + chunk)?.[0];
        outgoing.write(firstResult === undefined ? chunk : firstResult.slice(sent.length), () => {
          if (firstResult !== undefined) outgoing.destroy();
        });
        sent += chunk;
        if (firstResult !== undefined) forwarded.destroy();
      });
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  return {
    ...(await listen(server)),
    cut,
  };
}
