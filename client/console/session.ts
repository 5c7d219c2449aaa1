import { type AccountClient, createAccountClient, type TokenStorage } from '../src/api.ts';

/** The site's first page: this one is at `…/console/`. */
export const ROOT = new URL('..', location.href.replace(/[?#].*$/s, '')).href;

/** Stands where the client wants a refresh token: the token itself is in a cookie that no script can read. */
const IN_COOKIE = 'cookie';
/** Says that somebody is signed in in this browser; it is no credential. */
const FLAG = 'forecue.signed-in';
const ASK_MS = 150;
const FRESH_MS = 49 * 60_000;
const AUTH = /\/api\/auth\/(signup|login|logout|token\/refresh)\/$/;

/** Messages between tabs: a question for newer tokens, the tokens, and the end of the session. */
type Message = { ask: true } | { kept: string } | { ended: true };

interface Watcher {
  /** The session has ended. */
  onEnd(): void;
  /** Somebody else is signed in, in another tab. */
  onOther(): void;
}

/** Keeps the tokens in the memory of this tab, and shares them with the browser's other tabs, which renew them once for all. */
class TabTokens implements TokenStorage {
  readonly #channel = new BroadcastChannel('forecue.console');
  readonly #watcher: Watcher;
  #kept: string | null = null;
  #since = 0;
  #asked: Promise<void> | undefined;
  #answered: () => void = () => {};

  constructor(watcher: Watcher) {
    this.#watcher = watcher;
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
  }

  /** Another tab may have renewed what is old here. */
  async getItem(): Promise<string | null> {
    if (this.#kept !== null && Date.now() - this.#since > FRESH_MS) await this.#ask();
    return this.#kept;
  }

  setItem(_key: string, value: string): void {
    this.#keep(value);
    this.#tell({ kept: value });
  }

  removeItem(): void {
    this.#kept = null;
    localStorage.removeItem(FLAG);
    this.#tell({ ended: true });
  }

  /** The server has refused them: another tab may have others by now. */
  doubt(): void {
    this.#since = 0;
  }

  close(): void {
    this.#channel.close();
  }

  #keep(value: string): void {
    this.#kept = value;
    this.#since = Date.now();
    localStorage.setItem(FLAG, '1');
  }

  #tell(message: Message): void {
    this.#channel.postMessage(message);
  }

  #ask(): Promise<void> {
    this.#asked ??= new Promise<void>((resolve) => {
      this.#answered = resolve;
      setTimeout(resolve, ASK_MS);
      this.#tell({ ask: true });
    }).finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  #hear(message: Message): void {
    if ('ask' in message) {
      if (this.#kept !== null && Date.now() - this.#since < FRESH_MS) this.#tell({ kept: this.#kept });
    } else if ('ended' in message) {
      if (this.#kept === null) return;
      this.#kept = null;
      this.#watcher.onEnd();
    } else {
      const isOther = this.#kept === null || subjectOf(this.#kept) !== subjectOf(message.kept);
      if (isOther) this.#watcher.onOther();
      else this.#keep(message.kept);
      this.#answered();
    }
  }
}

/** The owner of the tokens, by the subject of the access token (RFC 7519, 4.1.2). */
function subjectOf(kept: string): unknown {
  const [, payload = ''] = String(JSON.parse(kept).access).split('.');
  return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))).sub;
}

/** A client of the person's, who may have to sign in first, and what ends it. */
export function openClient(watcher: Watcher, access?: string): { client: AccountClient; close(): void } {
  const storage = new TabTokens(watcher);
  const client = createAccountClient({
    baseUrl: ROOT,
    storage,
    ...(access !== undefined && { credential: { access, refresh: IN_COOKIE } }),
    onTokens: (tokens) => tokens === undefined && watcher.onEnd(),
    async fetch(url, init) {
      const answer = await fetch(toCookie(String(url)), init);
      if (answer.status === 401) storage.doubt();
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

/** An access token for the cookie; undefined where nobody is signed in. */
export async function resume(): Promise<string | undefined> {
  // Without the flag there is nothing to ask for, and no refusal that the browser's console would show.
  if (localStorage.getItem(FLAG) === null) return undefined;
  const client = createAccountClient({
    baseUrl: ROOT,
    fetch: (url, init) => fetch(toCookie(String(url)), init),
  });
  try {
    return (await client.refreshToken({ refresh: IN_COOKIE })).access;
  } catch (error) {
    if ((error as { status?: number }).status !== 401) throw error;
    localStorage.removeItem(FLAG);
    return undefined;
  }
}

/** Signing in, up and out, and renewing, are the console's own: there, the refresh token is in the cookie. */
function toCookie(url: string): string {
  return url.replace(AUTH, '/console/auth/$1/');
}
