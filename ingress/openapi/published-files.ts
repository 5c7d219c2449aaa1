import { join } from 'node:path';
import swaggerUi from 'swagger-ui-dist/absolute-path.js';
import type { Endpoint } from '../http/endpoint.ts';
import {
  createFileSender,
  type PublishedFile,
  REVALIDATE_HEADERS,
  readAsset,
  readScript,
  type SendFile,
  withGzip,
} from '../pages/files.ts';
import { describeEndpoints } from './document.ts';

/**
 * Allows files of our own origin, and images in `data:` URLs. Swagger UI also sets styles by script, which needs no
 * `'unsafe-inline'`.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

const ASSETS: readonly [path: string, file: PublishedFile][] = [
  ['/docs', page({ assets: 'docs/', root: '' })],
  ['/docs/', page({ assets: '', root: '../' })],
  ['/docs/init.js', readScript(new URL('init.js', import.meta.url))],
  ['/docs/swagger-ui-bundle.js', withGzip(readScript(join(swaggerUi(), 'swagger-ui-bundle.js')))],
  [
    '/docs/swagger-ui.css',
    withGzip(readAsset('text/css; charset=utf-8', join(swaggerUi(), 'swagger-ui.css'))),
  ],
];

/** Publishes `/openapi.json`, the page at `/docs` that renders it, and its assets. */
export function publishedFiles(endpoints: readonly Endpoint[], publicUrl: string | undefined): SendFile {
  const document = Buffer.from(JSON.stringify(describeEndpoints(endpoints, publicUrl)));
  const description = withGzip({ type: 'application/json; charset=utf-8', content: document });
  return createFileSender(new Map([['/openapi.json', description], ...ASSETS]));
}

/** `assets` and `root` are paths from the page's address to its assets and to the site's front page. */
function page({ assets, root }: { assets: string; root: string }): PublishedFile {
  const content = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Forecue API</title>
    <link rel="icon" href="${root}favicon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${assets}swagger-ui.css">
    <script defer src="${assets}swagger-ui-bundle.js"></script>
    <script defer src="${assets}init.js"></script>
  </head>
  <body>
    <main id="docs"></main>
  </body>
</html>
`;
  return {
    type: 'text/html; charset=utf-8',
    content: Buffer.from(content),
    headers: {
      ...REVALIDATE_HEADERS,
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Referrer-Policy': 'no-referrer',
    },
  };
}
