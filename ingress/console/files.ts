import { existsSync } from 'node:fs';
import type { Log } from '../../shared/log.ts';
import {
  createFileSender,
  type PublishedFile,
  REVALIDATE_HEADERS,
  readAsset,
  readScript,
  type SendFile,
  withGzip,
} from '../pages/files.ts';

const BUILT_FILES = new URL('../../client/console/dist/', import.meta.url);

/** The last two directives (Trusted Types) keep scripts from turning text into markup or code. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const pageOf = (content: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <meta name="description" content="What Forecue records, remembers and predicts for you.">
    <title>Forecue</title>
    <link rel="icon" href="../favicon.svg" type="image/svg+xml">
    ${content}
</html>
`;
const CONSOLE_PAGE = pageOf(`<link rel="stylesheet" href="app.css">
    <script type="module" src="app.js"></script>
  </head>
  <body>
    <noscript>The console needs JavaScript. All that it does, an API does as well: ../docs</noscript>
  </body>`);
const NOT_BUILT_PAGE = pageOf(`</head>
  <body>
    <p>The console is not built here. Whoever runs this server: npm ci && npm run build</p>
  </body>`);

export function consoleFiles(log: Log): SendFile {
  const isBuilt = existsSync(new URL('app.js', BUILT_FILES));
  if (!isBuilt) log.warn('the console is not built: npm run build (or CONSOLE=off)');
  const parts: [string, PublishedFile][] = isBuilt
    ? [
        ['/console/app.js', withGzip(readScript(new URL('app.js', BUILT_FILES)))],
        ['/console/app.css', withGzip(readAsset('text/css; charset=utf-8', new URL('app.css', BUILT_FILES)))],
      ]
    : [];
  const send = createFileSender(
    new Map([['/console/', htmlFile(isBuilt ? CONSOLE_PAGE : NOT_BUILT_PAGE)], ...parts]),
  );
  return async (ctx) => {
    if (ctx.path !== '/console') return send(ctx);
    ctx.status = 308;
    // Relative, so that it works under a path prefix.
    ctx.set('Location', 'console/');
    ctx.body = '';
  };
}

function htmlFile(content: string): PublishedFile {
  return {
    type: 'text/html; charset=utf-8',
    content: Buffer.from(content),
    headers: {
      ...REVALIDATE_HEADERS,
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
    },
  };
}
