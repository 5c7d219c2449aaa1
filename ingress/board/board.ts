import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import Koa, { type Next } from 'koa';
import { type IngressConfig, POOLS } from '../../shared/config/config.ts';
import { isUnavailable } from '../../shared/db/faults.ts';
import { openDatabase } from '../../shared/db/orm.ts';
import type { Connections } from '../../shared/db/statement.ts';
import { resumePools } from '../../shared/db/stores/work/operate.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import type { Log } from '../../shared/log.ts';
import type { Queues } from '../../shared/queue/queues.ts';
import { drain, pause, retryFailed } from '../../shared/work/operate.ts';
import { readForm, seeOther } from '../connect/browser.ts';
import type { LimiterFactory } from '../limits/limiter.ts';
import { createFileSender, readScript, type SendFile } from '../pages/files.ts';
import type { Html } from '../pages/html.ts';
import { contentPolicy, FAVICON, STYLE_SOURCE } from '../pages/layout.ts';
import { addressReader } from '../request/address.ts';
import { type RequestContext, type RequestState, requestContext } from '../request/context.ts';
import { setError, toAppError } from '../request/errors.ts';
import { BoardAccess, requireSameOrigin } from './access.ts';
import { ACTION_MESSAGES, boardPage, drainPage, errorPage, layout, signInPage } from './pages.ts';
import { renderSections, SECTIONS } from './sections.ts';
import { snapshotReader } from './snapshot.ts';
import { findForTimeline, timelines } from './timeline.ts';
import { Viewers } from './viewers.ts';

const CONNECTIONS = 2;
const STATEMENT_TIMEOUT_MS = 1500;
/** How long the board's "retry failed jobs" form waits while the pool of the jobs is full. */
const RETRY_ROOM_TIMEOUT_MS = 5000;

export interface Board {
  handle: RequestListener;
  close(): Promise<void>;
}

interface BoardParts {
  limits: LimiterFactory;
  queues: Pick<Queues, 'add'>;
  log: Log;
}

/** Opens the operators' board. It has its own database connections, so that it does not slow down predictions. */
export async function openBoard(config: IngressConfig, { limits, queues, log }: BoardParts): Promise<Board> {
  const own = { database: { ...config.database, poolSize: CONNECTIONS } };
  const database = await openDatabase(own, log, 'forecue web board', STATEMENT_TIMEOUT_MS);
  const pages = new BoardPages(config, database, { limits, queues, log });
  const app = new Koa<RequestState>();
  app.use(requestContext(log, addressReader(config.trustProxy), () => false));
  app.use(renderErrorPages);
  app.use((ctx) => pages.serve(ctx));
  app.on('error', (error: Error) => log.debug({ error: error.message }, 'answer not sent'));
  return {
    handle: app.callback(),
    async close() {
      pages.close();
      await database.close();
    },
  };
}

class BoardPages {
  readonly #config: IngressConfig;
  readonly #database: Connections;
  readonly #access: BoardAccess;
  readonly #queues: Pick<Queues, 'add'>;
  readonly #viewers: Viewers;
  readonly #sendFile: SendFile = createFileSender(FILES);

  constructor(config: IngressConfig, database: Connections, { limits, queues, log }: BoardParts) {
    this.#config = config;
    this.#database = database;
    this.#queues = queues;
    this.#access = new BoardAccess(config.adminToken, limits);
    this.#viewers = new Viewers({
      read: snapshotReader(database.pool, config.tokenQuotas.allAccounts),
      render: renderSections,
      renderFailure: (error) => failureSections(error, log),
    });
  }

  async serve(ctx: RequestContext): Promise<void> {
    setHeaders(ctx);
    const path = ctx.path.replace(/^\/admin/, '');
    if (path === '') return seeOther(ctx, 'admin/');
    if (ctx.method === 'POST') return this.#post(ctx, path);
    if (ctx.method !== 'GET') throw new AppError('method_not_allowed');
    if (FILES.has(ctx.path)) return this.#sendFile(ctx);
    ctx.state.route = `/admin${PAGES.has(path) ? path : ''}`;
    const session = await this.#access.readSession(ctx);
    if (path === '/' && session === undefined) return send(ctx, signInPage());
    if (session === undefined) throw new AppError('not_authenticated');
    const csrf = this.#access.csrf(session);
    if (path === '/') return this.#show(ctx, csrf);
    if (path === '/find') return this.#find(ctx, csrf);
    if (path !== '/events') throw new AppError('not_found');
    if (this.#viewers.isFull) throw new AppError('overloaded');
    ctx.status = 200;
    ctx.respond = false;
    this.#viewers.add(ctx.res, () => this.#access.isOpen(session));
  }

  async #show(ctx: RequestContext, csrf: string): Promise<void> {
    const { log } = ctx.state;
    const sections = await this.#viewers
      .latest()
      .then(renderSections, (error: unknown) => failureSections(error, log));
    send(ctx, boardPage({ csrf, sections, note: ACTION_MESSAGES.get(String(ctx.query['did'])) }));
  }

  async #find(ctx: RequestContext, csrf: string): Promise<void> {
    const searchedId = String(ctx.query['id'] ?? '').trim();
    const content = timelines(
      searchedId,
      await findForTimeline(this.#database.pool, searchedId, this.#config),
    );
    send(ctx, layout({ csrf, searchedId, title: 'Timeline', content }));
  }

  async #post(ctx: RequestContext, path: string): Promise<void> {
    if (!['/sign-in', '/sign-out', '/queue'].includes(path)) throw new AppError('not_found');
    ctx.state.route = `/admin${path}`;
    requireSameOrigin(ctx);
    const form = await readForm(ctx);
    if (path === '/sign-in') {
      await this.#access.signIn(ctx, form.get('token') ?? '');
      return seeOther(ctx, './');
    }
    const session = await this.#access.readSession(ctx);
    if (session === undefined) throw new AppError('not_authenticated');
    this.#access.requireCsrfToken(session, form);
    if (path === '/queue') return this.#act(ctx, session, form);
    await this.#access.signOut(ctx, session);
    seeOther(ctx, './');
  }

  async #act(ctx: RequestContext, session: string, form: URLSearchParams): Promise<void> {
    const [action, pool] = [form.get('do') ?? '', POOLS.find((one) => one === form.get('pool'))];
    if (pool === undefined) throw new AppError('not_found');
    const { recoveryWindowS } = this.#config;
    let outcome = action;
    if (action === 'pause')
      outcome = (await pause(this.#database.pool, [pool])) === 0 ? 'pause' : 'pause-late';
    else if (action === 'resume') await resumePools(this.#database.pool, [pool]);
    else if (action === 'retry') outcome = await this.#retry(pool);
    else if (action === 'drain' && form.get('sure') !== 'yes') {
      const { pools } = await this.#viewers.latest();
      const { queued = 0, isMore = false } = pools.find((one) => one.pool === pool) ?? {};
      const csrf = this.#access.csrf(session);
      return send(ctx, drainPage({ csrf, pool, queued: `${queued}${isMore ? ' or more' : ''}` }));
    } else if (action === 'drain')
      outcome = (await drain(this.#database, pool, recoveryWindowS)).locked === 0 ? 'drain' : 'locked';
    else throw new AppError('not_found');
    ctx.state.log.info({ action, pool }, 'an operator acted on a pool');
    seeOther(ctx, `./?did=${outcome}`);
  }

  async #retry(pool: (typeof POOLS)[number]): Promise<string> {
    const { retried } = await retryFailed(this.#database, [pool], {
      ...this.#config,
      queues: this.#queues,
      timeouts: this.#config,
      roomTimeoutMs: RETRY_ROOM_TIMEOUT_MS,
    });
    const all = Object.values(retried);
    const stop = all.find(({ stopped }) => stopped !== undefined)?.stopped;
    if (stop !== undefined) return `retry-${stop}`;
    if (all.some(({ locked }) => locked > 0)) return 'locked';
    return all.some(({ queued }) => queued > 0) ? 'retry' : 'retry-none';
  }

  close(): void {
    this.#viewers.close();
  }
}

const fileUrl = (name: string) => new URL(name, import.meta.url);
const CSS = ['../pages/base.css', 'board.css', 'last-hour.css', 'tables.css']
  .map((name) => readFileSync(fileUrl(name), 'utf8'))
  .join('');
const FILES = new Map([
  ['/admin/board.css', { type: 'text/css; charset=utf-8', content: Buffer.from(CSS) }],
  ['/admin/board.js', readScript(fileUrl('board.js'))],
  ['/admin/favicon.svg', { type: 'image/svg+xml', content: Buffer.from(FAVICON) }],
]);
const PAGES = new Set(['/', '/find', '/events']);

/**
 * With the referrer policy `no-referrer`, browsers would send the board's own forms with `Origin: null`, which
 * `requireSameOrigin` refuses.
 */
function setHeaders(ctx: RequestContext): void {
  ctx.set({
    'Content-Security-Policy': contentPolicy({
      'script-src': "'self'",
      'style-src': `'self' ${STYLE_SOURCE}`,
      'img-src': "'self'",
      'connect-src': "'self'",
      'form-action': "'self'",
    }),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  });
}

function send(ctx: RequestContext, page: Html): void {
  ctx.status = 200;
  ctx.type = 'html';
  ctx.body = page.text;
}

const ERROR_MESSAGES: Record<string, string> = {
  access_denied:
    'This form was not one that you got from the board, or is from an earlier session. Load the board again.',
  service_unavailable: 'The database does not answer, or not in time.',
  not_found: 'There is no such page.',
};

/** Turns errors into pages. A visitor without a session, or with a wrong token, gets the sign-in form. */
async function renderErrorPages(ctx: RequestContext, next: Next): Promise<void> {
  try {
    await next();
  } catch (thrown) {
    const error = toAppError(ctx, thrown);
    const showsSignIn = error.code === 'not_authenticated' || error.code === 'rate_limited';
    const page = showsSignIn
      ? signInPage(signInError(ctx, error))
      : errorPage(ERROR_MESSAGES[error.code] ?? `It failed: ${error.code}.`);
    send(ctx, page);
    setError(ctx, error);
  }
}

function signInError(ctx: RequestContext, { code, retryAfterS }: AppError): string {
  if (code === 'rate_limited') return `Too many wrong tokens. Try again in ${retryAfterS ?? 1} s.`;
  return ctx.state.route === '/admin/sign-in' ? 'Wrong token.' : 'Sign in first.';
}

/** Returns what the sections show if the database cannot be read: the first an alert, the others nothing. */
function failureSections(error: unknown, log: Log): Record<string, string> {
  log.warn({ err: error }, 'the board could not read the database');
  const why = isUnavailable(error) ? 'The database does not answer.' : 'The database did not answer in time.';
  const text = failureAlert(why);
  return Object.fromEntries(Object.keys(SECTIONS).map((id, index) => [id, index === 0 ? text : '']));
}

const failureAlert = (why: string) =>
  `<p class="alert" role="alert">${why} The figures come back by themselves.</p>`;
