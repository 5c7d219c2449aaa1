import { existsSync } from 'node:fs';
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
import { html } from '../pages/html.ts';
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

const BUILT_PAGE = {
  head: html`<link rel="stylesheet" href="app.css">
    <script type="module" src="app.js"></script>`,
  body: html`<noscript>The console needs JavaScript. All that it does, an API does as well: ../docs</noscript>`,
};
const NOT_BUILT_PAGE = {
  head: html``,
  body: html`<p>The console is not built here. Whoever runs this server: npm ci && npm run build</p>`,
};

function consolePage({ head, body }: typeof BUILT_PAGE): PublishedFile {
  const description = html`<meta name="description" content="What Forecue records, remembers and predicts for you.">`;
  const page = htmlDocument({
    title: 'Forecue',
    root: '../',
    head: html`${NO_INDEX}${description}${head}`,
    body,
  });
  return pageFile(page, CONTENT_SECURITY_POLICY, { 'Cross-Origin-Opener-Policy': 'same-origin' });
}

export function consoleFiles(log: Log): SendFile {
  const isBuilt = existsSync(new URL('app.js', BUILT_FILES));
  if (!isBuilt) log.warn('the console is not built: npm run build (or CONSOLE=off)');
  const parts: [string, PublishedFile][] = isBuilt
    ? [
        ['/console/app.js', withGzip(readScript(new URL('app.js', BUILT_FILES)))],
        ['/console/app.css', withGzip(readStyle(new URL('app.css', BUILT_FILES)))],
      ]
    : [];
  const send = createFileSender(
    new Map([['/console/', consolePage(isBuilt ? BUILT_PAGE : NOT_BUILT_PAGE)], ...parts]),
  );
  return async (ctx) => {
    if (ctx.path !== '/console') return send(ctx);
    ctx.status = 308;
    // Relative, so that it works under a path prefix.
    ctx.set('Location', 'console/');
    ctx.body = '';
  };
}
