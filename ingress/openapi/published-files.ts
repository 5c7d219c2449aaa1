import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import swaggerUi from 'swagger-ui-dist/absolute-path.js';
import type { Endpoint } from '../http/endpoint.ts';
import {
  createFileSender,
  type PublishedFile,
  pageFile,
  readScript,
  readStyle,
  type SendFile,
  withGzip,
} from '../pages/files.ts';
import { html } from '../pages/html.ts';
import { contentPolicy, htmlDocument } from '../pages/layout.ts';
import { documentPath, readDocument } from './committed.ts';

/**
 * Allows files of our own origin, and images in `data:` URLs. Swagger UI also sets styles by script, which needs no
 * `'unsafe-inline'`.
 */
const CONTENT_SECURITY_POLICY = contentPolicy({
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'form-action': "'none'",
});

const ASSETS: readonly [path: string, file: PublishedFile][] = [
  ['/docs', page({ assets: 'docs/', root: '' })],
  ['/docs/', page({ assets: '', root: '../' })],
  ['/docs/init.js', readScript(new URL('init.js', import.meta.url))],
  ['/docs/swagger-ui-bundle.js', withGzip(readScript(join(swaggerUi(), 'swagger-ui-bundle.js')))],
  ['/docs/swagger-ui.css', withGzip(readStyle(join(swaggerUi(), 'swagger-ui.css')))],
  ['/docs/docs.css', readStyle(new URL('docs.css', import.meta.url))],
];

const SANDBOX_KEY_PATH = '/docs/sandbox-key';

/**
 * Publishes `/openapi.json`, the page at `/docs` that renders it, and its assets. The page asks for a key, with which
 * its calls are authorised: that of the sandbox app, on the developer's own machine.
 */
export function publishedFiles(
  endpoints: readonly Endpoint[],
  publicUrl: string | undefined,
  readSandboxKey: () => Promise<string | null>,
): SendFile {
  const content = Buffer.from(JSON.stringify(servedDocument(endpoints, publicUrl)));
  const description = withGzip({ type: 'application/json; charset=utf-8', content });
  const sendFile = createFileSender(new Map([['/openapi.json', description], ...ASSETS]));
  return async (ctx) => {
    if (ctx.path !== SANDBOX_KEY_PATH) return sendFile(ctx);
    ctx.status = 200;
    ctx.set('Cache-Control', 'no-store');
    ctx.type = 'json';
    ctx.body = JSON.stringify({ app_key: isLocal(ctx.req) ? await readSandboxKey() : null });
  };
}

/** Leaves out the paths that this ingress does not serve. Without a public URL the server is the document's own origin. */
function servedDocument(endpoints: readonly Endpoint[], url = '/'): object {
  const document = readDocument();
  const served = new Set(endpoints.map(documentPath));
  const paths = Object.entries(document.paths).filter(([path]) => served.has(path));
  return { ...document, servers: [{ url }], paths: Object.fromEntries(paths) };
}

/** A tunnel or a proxy connects from this machine as well, but asks for another host, as a rebound name does. */
function isLocal({ socket, headers }: IncomingMessage): boolean {
  const isNear = /^(?:::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '');
  return isNear && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(headers.host ?? '');
}

/** `assets` and `root` are paths from the page's address to its assets and to the site's front page. */
function page({ assets, root }: { assets: string; root: string }): PublishedFile {
  const head = html`<link rel="stylesheet" href="${assets}swagger-ui.css">
    <link rel="stylesheet" href="${assets}docs.css">
    <script defer src="${assets}swagger-ui-bundle.js"></script>
    <script defer src="${assets}init.js"></script>`;
  const body = html`<div id="docs"></div>`;
  return pageFile(htmlDocument({ title: 'Forecue API', root, head, body }), CONTENT_SECURITY_POLICY);
}
