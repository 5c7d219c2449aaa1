import { POOLS, type PoolName } from '../../shared/config/config.ts';
import { type Html, html, markup } from '../pages/html.ts';
import { htmlDocument, LOGO, layoutPage, NO_INDEX } from '../pages/layout.ts';
import { SECTIONS } from './sections.ts';

export function signInPage(error?: string): Html {
  return layoutPage({
    title: 'Board',
    root: './',
    content: html`
    <h1>The operators’ board</h1>
    <p class="quiet">Sign in with the token of this installation: <code>ADMIN_TOKEN</code>, in development the file
      <code>.data/admin-token</code>.</p>
    ${error === undefined ? undefined : html`<p class="alert" role="alert">${error}</p>`}
    <form method="post" action="sign-in">
      <div class="field">
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
      </div>
      <button class="primary wide">Open the board</button>
    </form>`,
  });
}

export function errorPage(message: string): Html {
  return layoutPage({
    title: 'Board',
    root: './',
    content: html`<h1>That did not work</h1><p>${message}</p><p class="foot"><a href="./">Back to the board</a></p>`,
  });
}

interface Session {
  csrf: string;
}

export function boardPage({
  csrf,
  sections,
  note,
}: Session & { sections: Record<string, string>; note: string | undefined }): Html {
  return layout({
    csrf,
    title: 'Board',
    live: true,
    content: html`
    <h1 class="hidden">The operators’ board</h1>
    ${note === undefined ? undefined : html`<p class="state" role="status">${note}</p>`}
    ${Object.entries(SECTIONS).map(
      ([id, title]) => html`<section aria-labelledby="of-${id}">
      <h2 id="of-${id}">${title}</h2>
      <div id="${id}">${markup(sections[id] ?? '')}</div>
      ${id === 'pools' ? actions(csrf) : undefined}
    </section>`,
    )}`,
  });
}

function actions(csrf: string): Html {
  return html`<form method="post" action="queue" class="actions" aria-label="Act on a pool">
    <input type="hidden" name="csrf" value="${csrf}">
    <label for="pool">Pool</label>
    <select id="pool" name="pool">${POOLS.map((pool) => html`<option>${pool}</option>`)}</select>
    <button class="secondary" name="do" value="pause">Pause</button>
    <button class="secondary" name="do" value="resume">Resume</button>
    <button class="secondary" name="do" value="retry">Retry failed jobs</button>
    <button class="secondary" name="do" value="drain">Drain…</button>
  </form>`;
}

export function drainPage({ csrf, pool, queued }: Session & { pool: PoolName; queued: string }): Html {
  return layout({
    csrf,
    title: 'Drain',
    content: html`<section class="narrow">
    <h1>Drain ${pool}?</h1>
    <p>${queued} wait in this pool. Draining ends them as <code>service_unavailable</code> and refunds them. What runs goes
      on; new work is taken, unless the pool is paused.</p>
    <form method="post" action="queue" class="actions">
      <input type="hidden" name="csrf" value="${csrf}">
      <input type="hidden" name="pool" value="${pool}">
      <input type="hidden" name="sure" value="yes">
      <button class="danger" name="do" value="drain">Drain ${pool}</button>
      <a class="back" href="./">Back to the board</a>
    </form></section>`,
  });
}

interface Page extends Session {
  title: string;
  content: Html;
  searchedId?: string;
  live?: boolean;
}

/** Renders a page of the board, with forms to find work and to sign out. */
export function layout({ title, content, csrf, searchedId = '', live = false }: Page): Html {
  return htmlDocument({
    title: `${title} – Forecue`,
    root: './',
    head: html`${NO_INDEX}<link rel="stylesheet" href="board.css">
    ${live ? html`<script src="board.js" defer></script>` : undefined}`,
    body: html`<header>
      <a class="home" href="./">${markup(LOGO)} <span>Forecue board</span></a>
      ${live ? html`<p id="live" role="status" data-state="page">As of this page</p>` : undefined}
      <form class="find" action="find" role="search">
        <label class="hidden" for="id">Prediction id or X-Request-Id</label>
        <input id="id" name="id" value="${searchedId}" placeholder="Prediction id or X-Request-Id" maxlength="80" required>
        <button class="secondary">Find</button>
      </form>
      <form method="post" action="sign-out">
        <input type="hidden" name="csrf" value="${csrf}">
        <button class="link">Sign out</button>
      </form>
    </header>
    <main>${content}</main>`,
  });
}

/** The result of an action in words, by the query parameter `did` of the page to which the action redirects. */
export const ACTION_MESSAGES = new Map([
  ['pause', 'Paused: every worker has noticed. What runs goes on; what waits stays until its deadline.'],
  ['pause-late', 'Paused, but some workers have not noticed yet. What runs goes on.'],
  ['resume', 'Resumed: workers claim again within a second or two.'],
  ['drain', 'Drained: what waited ended as service_unavailable, and was refunded.'],
  ['retry', 'A new job is queued for each account whose latest one failed.'],
  ['retry-none', 'No job to retry. Predictions are not retried: their callers have had their answer.'],
  ['retry-no_worker', 'Stopped, because no worker serves the pool: start one, and try again.'],
  ['retry-paused', 'Stopped, because the pool is paused and full: resume it, and try again.'],
  [
    'retry-full',
    'Stopped, because the pool is full: try again, or run `queue retry-failed`, which waits for room.',
  ],
  ['locked', 'Done, but for apps and accounts whose rows are locked: try again later.'],
]);
