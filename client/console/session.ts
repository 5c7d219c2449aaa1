import {
  type AccountClient,
  type ConsoleAccessResponse,
  createAccountClient,
  type TokenStorage,
} from '../src/api.ts';
import { errorOf, ForecueError } from '../src/errors.ts';
import { noteReached } from './parts/away.tsx';
import type { PasskeyCalls } from './parts/passkey-log-in.tsx';

/** Address of the site's root; this page is at `…/console/`. */
export const ROOT = new URL('..', location.href.replace(/[?#].*$/s, '')).href;

/** Placeholder for the refresh token, which is in a cookie that no script can read. */
const TOKEN_IN_COOKIE = 'cookie';
/** Storage key that records that somebody is signed in on this browser; not a credential. */
const SIGNED_IN_KEY = 'forecue.signed-in';
/** Maximum time for other tabs to answer a request for newer tokens. */
const ASK_TABS_TIMEOUT_MS = 150;
/** Age from which to ask the other tabs for newer tokens; the client renews tokens at 50 minutes. */
const FRESH_TOKEN_MS = 49 * 60_000;
/** Storage key of a tab that has reloaded for a part that it could not load. */
const RELOADED_KEY = 'forecue.reloaded';
const AUTH_PATH = /\/api\/auth\/(signup|login|logout|token\/refresh)\/$/;

/** Messages between tabs: a request for newer tokens, the tokens, and the end of the session. */
type TabMessage = { ask: true } | { kept: string } | { ended: true };

interface SessionWatcher {
  onEnd(): void;
  /** Called when another tab reports the tokens of a person who is not signed in to this tab. */
  onOther(): void;
}

/** Keeps the tokens in memory and shares them with other tabs, so that only one tab renews them. */
class TabTokens implements TokenStorage {
  readonly #channel = new BroadcastChannel('forecue.console');
  readonly #watcher: SessionWatcher;
  #tokens: string | null = null;
  #keptAt = 0;
  #pendingRequest: Promise<void> | undefined;
  #resolveRequest: () => void = () => {};

  constructor(watcher: SessionWatcher) {
    this.#watcher = watcher;
    this.#channel.onmessage = ({ data }: MessageEvent<TabMessage>) => this.#hear(data);
  }

  /** Asks the other tabs for newer tokens if this tab's are old or the server has refused them. */
  async getItem(): Promise<string | null> {
    if (this.#tokens !== null && Date.now() - this.#keptAt > FRESH_TOKEN_MS) await this.#ask();
    return this.#tokens;
  }

  setItem(_key: string, value: string): void {
    this.#keep(value);
    this.#tell({ kept: value });
  }

  removeItem(): void {
    this.#tokens = null;
    localStorage.removeItem(SIGNED_IN_KEY);
    this.#tell({ ended: true });
  }

  /** Makes the next `getItem` ask the other tabs, because the server has refused these tokens. */
  markStale(): void {
    this.#keptAt = 0;
  }

  close(): void {
    this.#channel.close();
  }

  #keep(value: string): void {
    this.#tokens = value;
    this.#keptAt = Date.now();
    localStorage.setItem(SIGNED_IN_KEY, '1');
  }

  #tell(message: TabMessage): void {
    this.#channel.postMessage(message);
  }

  #ask(): Promise<void> {
    this.#pendingRequest ??= new Promise<void>((resolve) => {
      this.#resolveRequest = resolve;
      setTimeout(resolve, ASK_TABS_TIMEOUT_MS);
      this.#tell({ ask: true });
    }).finally(() => {
      this.#pendingRequest = undefined;
    });
    return this.#pendingRequest;
  }

  #hear(message: TabMessage): void {
    if ('ask' in message) {
      if (this.#tokens !== null && Date.now() - this.#keptAt < FRESH_TOKEN_MS)
        this.#tell({ kept: this.#tokens });
    } else if ('ended' in message) {
      if (this.#tokens === null) return;
      this.#tokens = null;
      this.#watcher.onEnd();
    } else {
      const isOther = this.#tokens === null || ownerOf(this.#tokens) !== ownerOf(message.kept);
      if (isOther) this.#watcher.onOther();
      else this.#keep(message.kept);
      this.#resolveRequest();
    }
  }
}

/** Returns the tokens' owner: the subject of the access token (RFC 7519, 4.1.2). */
function ownerOf(kept: string): unknown {
  const [, payload = ''] = String(JSON.parse(kept).access).split('.');
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))).sub;
}

export function openClient(
  watcher: SessionWatcher,
  access?: string,
): { client: AccountClient; close(): void } {
  const storage = new TabTokens(watcher);
  const client = createAccountClient({
    baseUrl: ROOT,
    storage,
    ...(access !== undefined && { credential: { access, refresh: TOKEN_IN_COOKIE } }),
    onTokens: (tokens) => tokens === undefined && watcher.onEnd(),
    async fetch(url, init) {
      const answer = await noticingFetch(url, init);
      // A 401 for a log-in or a renewal does not mean that the access token is invalid.
      if (answer.status === 401 && !AUTH_PATH.test(String(url))) storage.markStale();
      return answer;
    },
  });
  return {
    client,
    close() {
      client.close();
      storage.close();
    },
  };
}

/**
 * Exchanges the cookie for an access token, and reads whose it is; undefined if nobody is signed in. Throws errors other
 * than a 401.
 */
export async function resume(): Promise<ConsoleAccessResponse | undefined> {
  // Without this flag there is most likely no cookie; a refresh would then only log a 401 in the browser's console.
  if (localStorage.getItem(SIGNED_IN_KEY) === null) return undefined;
  const client = createAccountClient({
    baseUrl: ROOT,
    fetch: noticingFetch,
  });
  try {
    // The console's own path has a longer answer than the API's, so that the first page needs one request less.
    return (await client.refreshToken({ refresh: TOKEN_IN_COOKIE })) as ConsoleAccessResponse;
  } catch (error) {
    if ((error as { status?: number }).status !== 401) throw error;
    localStorage.removeItem(SIGNED_IN_KEY);
    return undefined;
  }
}

/** The calls with which a passkey signs in. Then the cookie of the session is set, from which the page starts again. */
export const passkeyCalls: PasskeyCalls = {
  options: () => postOwn('options'),
  async send(credential) {
    await postOwn('login', { credential });
    localStorage.setItem(SIGNED_IN_KEY, '1');
  },
};

async function postOwn<Answer>(name: string, body?: object): Promise<Answer> {
  const answer = await noticingFetch(`${ROOT}console/auth/passkeys/${name}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw await errorOf(answer);
  return answer.json();
}

async function noticingFetch(url: string | URL | Request, init?: RequestInit): Promise<Response> {
  try {
    const answer = await fetch(toConsolePath(String(url)), init);
    noteReached(true);
    return answer;
  } catch (error) {
    if (!init?.signal?.aborted) noteReached(false);
    throw error;
  }
}

/**
 * Loads a part of the console. While the server is away, fails as its other requests do. If the part is gone, as after
 * a release, or the browser keeps the failure, reloads the page once.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  const part = await load().catch(async () => {
    // A proxy in front of the server answers for it while it is away.
    const isThere = await fetch('', { method: 'HEAD' }).then(
      ({ ok }) => ok,
      () => false,
    );
    noteReached(isThere);
    if (!isThere) throw new ForecueError('network_error');
    return load().catch(reloadOnce);
  });
  sessionStorage.removeItem(RELOADED_KEY);
  return part;
}

function reloadOnce(error: unknown): Promise<never> {
  if (sessionStorage.getItem(RELOADED_KEY) !== null) throw error;
  sessionStorage.setItem(RELOADED_KEY, '1');
  location.reload();
  return new Promise(() => {});
}

/**
 * Changes the API's URLs for sign-up, log-in, log-out and renewal to the console's own, which keep the refresh token in
 * a cookie. Leaves other URLs unchanged.
 */
function toConsolePath(url: string): string {
  return url.replace(AUTH_PATH, '/console/auth/$1/');
}
