/**
 * A text field in a page that completes what you type. The page calls this server, which holds the key.
 * `FORECUE_URL=http://localhost:8080 APP_KEY=fc_… node editor.ts`
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRelay, nodeHandler } from 'forecue/connect';

const { FORECUE_URL: baseUrl = 'http://localhost:8080', APP_KEY: appKey = '', PORT = '3000' } = process.env;
const PAGE = new URL('editor.html', import.meta.url);
const MODULES = new URL('.', import.meta.resolve('forecue/v1'));

// A real app looks up the user in its own session.
const relay = nodeHandler(createRelay({ baseUrl, appKey, userOf: () => 'editor' }));

const server = createServer(async (request, response) => {
  const [pathname = ''] = (request.url ?? '').split('?');
  const [, name] = /^\/modules\/([\w/-]+\.js)$/.exec(pathname) ?? [];
  if (pathname.startsWith('/forecue/')) await relay(request, response);
  else if (name !== undefined) await send(new URL(name, MODULES), 'text/javascript');
  else if (pathname === '/') await send(PAGE, 'text/html');
  else response.writeHead(404).end();

  async function send(file: URL, type: string): Promise<void> {
    const content = await readFile(file).catch(() => undefined);
    response
      .writeHead(content === undefined ? 404 : 200, { 'content-type': `${type}; charset=utf-8` })
      .end(content);
  }
});
server.listen(Number(PORT), '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : PORT;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
