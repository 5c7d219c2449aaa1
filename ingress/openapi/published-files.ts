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
import { describeEndpoints } from './document.ts';

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
];

/** Publishes `/openapi.json`, the page at `/docs` that renders it, and its assets. */
export function publishedFiles(endpoints: readonly Endpoint[], publicUrl: string | undefined): SendFile {
  const document = Buffer.from(JSON.stringify(describeEndpoints(endpoints, publicUrl)));
  const description = withGzip({ type: 'application/json; charset=utf-8', content: document });
  return createFileSender(new Map([['/openapi.json', description], ...ASSETS]));
}

/** `assets` and `root` are paths from the page's address to its assets and to the site's front page. */
function page({ assets, root }: { assets: string; root: string }): PublishedFile {
  const head = html`<link rel="stylesheet" href="${assets}swagger-ui.css">
    <script defer src="${assets}swagger-ui-bundle.js"></script>
    <script defer src="${assets}init.js"></script>`;
  const body = html`<main id="docs"></main>`;
  return pageFile(htmlDocument({ title: 'Forecue API', root, head, body }), CONTENT_SECURITY_POLICY);
}
