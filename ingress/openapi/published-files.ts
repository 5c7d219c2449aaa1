import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import swaggerUi from 'swagger-ui-dist/absolute-path.js';
import type { PublishedFile } from '../middleware/files.ts';

/** Nothing but our own address is asked for anything. Swagger UI sets styles on its elements. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** The document at `/openapi.json`, and at `/docs` the pages that render it, with all that they need. */
export function publishedFiles(document: object): Map<string, PublishedFile> {
  return new Map([
    [
      '/openapi.json',
      { type: 'application/json; charset=utf-8', content: Buffer.from(JSON.stringify(document)) },
    ],
    ['/docs', page('docs/')],
    ['/docs/', page('')],
    ['/docs/init.js', script(new URL('init.js', import.meta.url))],
    ['/docs/swagger-ui-bundle.js', script(join(swaggerUi(), 'swagger-ui-bundle.js'))],
    ['/docs/swagger-ui.css', asset('text/css; charset=utf-8', join(swaggerUi(), 'swagger-ui.css'))],
  ]);
}

/** The page; `folder` is where its parts are, seen from its own address. */
function page(folder: string): PublishedFile {
  const content = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Forecue API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${folder}swagger-ui.css">
    <script defer src="${folder}swagger-ui-bundle.js"></script>
    <script defer src="${folder}init.js"></script>
  </head>
  <body>
    <main id="docs"></main>
  </body>
</html>
`;
  return {
    type: 'text/html; charset=utf-8',
    content: Buffer.from(content),
    headers: { ...REVALIDATED, 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' },
  };
}

/** Kept by browsers, which ask each time whether it is still the same. */
const REVALIDATED = { 'Cache-Control': 'no-cache' };

function asset(type: string, path: string | URL): PublishedFile {
  return { type, content: readFileSync(path), headers: REVALIDATED };
}

function script(path: string | URL): PublishedFile {
  return asset('text/javascript; charset=utf-8', path);
}
