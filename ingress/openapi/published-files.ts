import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import swaggerUi from 'swagger-ui-dist/absolute-path.js';
import { type PublishedFile, PublishedFiles } from '../http/files.ts';
import type { Endpoint } from '../http/route.ts';
import { describeEndpoints } from './document.ts';

/** Everything comes from our own address. Swagger UI sets styles by script alone, which a policy allows. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** The document of these endpoints at `/openapi.json`, the page at `/docs` that renders it, and that page's assets. */
export function publishedFiles(endpoints: readonly Endpoint[], publicUrl: string): PublishedFiles {
  const document = Buffer.from(JSON.stringify(describeEndpoints(endpoints, publicUrl)));
  return new PublishedFiles([
    ['/openapi.json', { type: 'application/json; charset=utf-8', content: document }],
    ['/docs', page('docs/')],
    ['/docs/', page('')],
    ['/docs/init.js', script(new URL('init.js', import.meta.url))],
    ['/docs/swagger-ui-bundle.js', script(join(swaggerUi(), 'swagger-ui-bundle.js'))],
    ['/docs/swagger-ui.css', asset('text/css; charset=utf-8', join(swaggerUi(), 'swagger-ui.css'))],
  ]);
}

/** The page; `folder` is where its assets are, relative to its own address. */
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

/** Browsers may cache it, and revalidate it each time. */
const REVALIDATED = { 'Cache-Control': 'no-cache' };

function asset(type: string, path: string | URL): PublishedFile {
  return { type, content: readFileSync(path), headers: REVALIDATED };
}

function script(path: string | URL): PublishedFile {
  return asset('text/javascript; charset=utf-8', path);
}
