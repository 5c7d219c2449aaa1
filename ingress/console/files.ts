import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Log } from '../../shared/log.ts';
import {
  createFileSender,
  type PublishedFile,
  pageFile,
  readScript,
  readStyle,
  type SendFile,
  withGzip,
} from '../pages/files.ts';
import { type Html, html } from '../pages/html.ts';
import { contentPolicy, htmlDocument, NO_INDEX } from '../pages/layout.ts';

const BUILT_FILES = new URL('../../client/console/dist/', import.meta.url);

/** The last two directives (Trusted Types) keep scripts from turning text into markup or code. */
const CONTENT_SECURITY_POLICY = `${contentPolicy({
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'form-action': "'none'",
})}; require-trusted-types-for 'script'; trusted-types 'none'`;

/** The name of a part has its hash. */
const PART_HEADERS = { 'Cache-Control': 'public, max-age=31536000, immutable' };

interface Contents {
  head: Html;
  body: Html;
}

/** Without the links, a browser would ask for the parts only once it has the script that imports them. */
const builtPage = (preloaded: readonly string[]): Contents => ({
  head: html`<link rel="stylesheet" href="app.css">
    ${preloaded.map((part) => html`<link rel="modulepreload" href="${part}">`)}
    <script type="module" src="app.js"></script>`,
  body: html`<noscript>The console needs JavaScript. All that it does, an API does as well: ../docs</noscript>`,
});
const NOT_BUILT_PAGE: Contents = {
  head: html``,
  body: html`<p>The console is not built here. Whoever runs this server: npm ci && npm run build</p>`,
};

function consolePage({ head, body }: Contents): PublishedFile {
  const description = html`<meta name="description" content="What Forecue records, remembers and predicts for you.">`;
  const page = htmlDocument({
    title: 'Forecue',
    root: '../',
    head: html`${NO_INDEX}${description}${head}`,
    body,
  });
  return pageFile(page, CONTENT_SECURITY_POLICY, { 'Cross-Origin-Opener-Policy': 'same-origin' });
}

function readPreloaded(): string[] {
  return JSON.parse(readFileSync(new URL('preloaded.json', BUILT_FILES), 'utf8'));
}

export function consoleFiles(log: Log): SendFile {
  const isBuilt = ['app.js', 'preloaded.json'].every((name) => existsSync(new URL(name, BUILT_FILES)));
  if (!isBuilt) log.warn('the console is not built: npm run build (or CONSOLE=off)');
  const page = isBuilt ? builtPage(readPreloaded()) : NOT_BUILT_PAGE;
  const files = (isBuilt ? readdirSync(BUILT_FILES) : []).flatMap((name): [string, PublishedFile][] => {
    const path = new URL(name, BUILT_FILES);
    if (name.endsWith('.json')) return [];
    const file = withGzip(name.endsWith('.css') ? readStyle(path) : readScript(path));
    return [[`/console/${name}`, name.startsWith('part-') ? { ...file, headers: PART_HEADERS } : file]];
  });
  const send = createFileSender(new Map([['/console/', consolePage(page)], ...files]));
  return async (ctx) => {
    if (ctx.path !== '/console') return send(ctx);
    ctx.status = 308;
    // Relative, so that it works under a path prefix.
    ctx.set('Location', 'console/');
    ctx.body = '';
  };
}
