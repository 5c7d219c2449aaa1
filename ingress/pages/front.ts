import type { Health } from '../../shared/process/operator-port.ts';
import type { PageContext } from '../http/endpoint.ts';
import { type Html, html } from './html.ts';
import { FAVICON, layoutPage, pagePolicy } from './layout.ts';

interface FrontParts {
  health: Health;
  publicUrl: string;
  /** True if people have a console. */
  console: boolean;
  production: boolean;
}

/** Serves the front page, `/`: HTML for a browser, JSON for a program. */
export function frontPage(parts: FrontParts) {
  return async (ctx: PageContext): Promise<void> => {
    const { health, publicUrl, console: hasConsole } = parts;
    const ready = await health.isReady().catch(() => false);
    ctx.status = 200;
    ctx.vary('Accept');
    // A program that accepts anything gets JSON.
    if (ctx.accepts('json', 'html') === 'html') {
      ctx.set({ 'Content-Security-Policy': pagePolicy("'none'"), 'Referrer-Policy': 'no-referrer' });
      ctx.type = 'html';
      ctx.body = renderFrontPage({ ...parts, ready }).text;
      return;
    }
    ctx.type = 'json';
    ctx.body = JSON.stringify({
      name: 'Forecue',
      status: ready ? 'ready' : 'unavailable',
      docs: `${publicUrl}/docs`,
      openapi: `${publicUrl}/openapi.json`,
      console: hasConsole ? `${publicUrl}/console/` : null,
    });
  };
}

export function sendFavicon(ctx: PageContext): void {
  ctx.status = 200;
  ctx.set({ 'Cache-Control': 'public, max-age=86400', 'Content-Security-Policy': FAVICON_POLICY });
  ctx.type = 'image/svg+xml';
  ctx.body = FAVICON;
}

/** An SVG that is opened in a tab is a document, and needs a policy. */
const FAVICON_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

function renderFrontPage({
  ready,
  publicUrl,
  console: hasConsole,
  production,
}: FrontParts & { ready: boolean }): Html {
  const key = production ? '$APP_KEY' : '$(cat .data/app-key)';
  return layoutPage({
    title: 'Predicts what you type next',
    root: './',
    content: html`
    <h1>Forecue predicts what a person types next</h1>
    <p class="quiet">The rest of a draft, the next prompt, or the reply to an agent’s question. With a person’s permission,
      from a memory of what they wrote before.</p>
    ${
      ready
        ? html`<p class="state good"><strong>Healthy.</strong> The database and the queue answer.</p>`
        : html`<p class="state bad"><strong>Not available at the moment.</strong> The database or the queue does not
            answer; <a href="readyz">readyz</a> says when they do.</p>`
    }
    ${
      hasConsole
        ? html`
    <p><a class="button primary wide" href="console/">Open your console</a></p>
    <p class="quiet small">Try predictions, see and correct what is remembered of you, choose who may use it.</p>`
        : undefined
    }
    <h2>For an app</h2>
    <p>An app asks with its key${production ? html`, here <code>APP_KEY</code>` : undefined}:</p>
    <pre tabindex="0">curl -sS ${publicUrl}/v1/predictions \\
  -H "Authorization: Bearer ${key}" \\
  -H 'Content-Type: application/json' \\
  -d '{ "request_id": "'$RANDOM'", "user_id": "u-1",
    "session_id": "s-1", "mode": "complete_draft",
    "draft": { "text": "Please summarise the quart",
      "revision": 1 }, "context_revision": "1",
    "messages": [{ "role": "user", "content":
      "Summarise the quarterly sales report" }] }'</pre>
    <p class="foot"><a href="docs">Every endpoint, to read and to try</a></p>`,
  });
}
