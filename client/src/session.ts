import { ForecueError } from './errors.ts';
import { type Credentials, sleep } from './transport.ts';

/** Tokens that a log-in returns. */
export interface Tokens {
  /** Valid for an hour. */
  access: string;
  /** Valid for 30 days; in exchange for it the server issues new access tokens. */
  refresh: string;
}

/** Keeps tokens across page loads, and shares them with other tabs, like `localStorage`. */
export interface TokenStorage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

export interface SessionOptions {
  /** An access token, a key (`service_…`), or a pair of tokens. Only a pair of tokens is renewed. */
  credential?: string | Tokens | undefined;
  /** Storage for the tokens; memory by default. */
  storage?: TokenStorage;
  /** Called with the tokens whenever they change, and with undefined when nobody is logged in any more. */
  onTokens?: (tokens: Tokens | undefined) => void;
}

/** `at` is the time at which the tokens arrived, by this machine's clock. */
interface StoredTokens extends Tokens {
  at: number;
}

const RENEW_AFTER_MS = 50 * 60_000;
/** Pause before the timer tries a failed renewal again. A call that needs the tokens tries at once. */
const RENEWAL_RETRY_MS = 60_000;
const STORAGE_KEY = 'forecue.tokens';
/** Longest delay until this tab's storage shows what another tab wrote. */
const STORAGE_DELAY_MAX_MS = 1000;

/** Renews tokens after 50 minutes and after a 401, once for all calls and tabs that share the storage. */
export class Session implements Credentials {
  readonly #storage: TokenStorage;
  readonly #isShared: boolean;
  readonly #fixedCredential: string | undefined;
  readonly #onTokens: SessionOptions['onTokens'];
  readonly #exchange: (refresh: string) => Promise<string>;
  #renewal: Promise<boolean> | undefined;
  #channel: BroadcastChannel | undefined;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #start: Promise<void>;
  /** Resolves when this tab has applied the latest change of another tab. */
  #latestChange: Promise<void> = Promise.resolve();
  /** Access token last passed to `onTokens`; until then, the one found in the storage. */
  #knownAccess: string | undefined;

  /** Throws a `TypeError` for a credential that no header can carry. */
  constructor(
    { credential, storage, onTokens }: SessionOptions,
    exchange: (refresh: string) => Promise<string>,
  ) {
    this.#storage = storage ?? memoryStorage();
    this.#isShared = storage !== undefined;
    this.#onTokens = onTokens;
    this.#exchange = exchange;
    this.#fixedCredential = typeof credential === 'string' ? credential : undefined;
    for (const one of typeof credential === 'object'
      ? [credential.access, credential.refresh]
      : [credential ?? '-'])
      checkCredential('credential', one);
    this.#channel = this.#isShared ? this.#listen() : undefined;
    this.#start = typeof credential === 'object' ? this.adopt(credential) : this.#begin();
    this.#start.catch(() => {});
  }

  async headers(): Promise<Record<string, string>> {
    if (this.#fixedCredential !== undefined) return headersOf(this.#fixedCredential);
    await this.#start;
    const tokens = await this.#read();
    if (tokens === undefined) return {};
    const headers = headersOf(tokens.access);
    if (Date.now() - tokens.at < RENEW_AFTER_MS) return headers;
    // The timer did not fire if the machine was asleep. If renewing fails, the old token may still work.
    await this.renew(headers).catch(() => {});
    const renewed = await this.#read();
    return renewed === undefined ? {} : headersOf(renewed.access);
  }

  /** Renews the tokens, unless they have already been replaced. Resolves with whether to repeat the refused call. */
  renew(refused: Record<string, string>): Promise<boolean> {
    if (this.#fixedCredential !== undefined) return Promise.resolve(false);
    this.#renewal ??= this.#runAlone((waited) => this.#renew(refused, waited)).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async adopt({ access, refresh }: Tokens): Promise<void> {
    const text = JSON.stringify({ access, refresh, at: Date.now() } satisfies StoredTokens);
    await this.#storage.setItem(STORAGE_KEY, text);
    await this.#schedule();
    this.#notifyTokens({ access, refresh });
    this.#channel?.postMessage(text);
  }

  async forget(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#storage.removeItem(STORAGE_KEY);
    this.#notifyTokens(undefined);
    this.#channel?.postMessage(null);
  }

  async refreshToken(): Promise<string | undefined> {
    return (await this.#read())?.refresh;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#channel?.close();
    this.#channel = undefined;
  }

  async #begin(): Promise<void> {
    this.#knownAccess = (await this.#read())?.access;
    await this.#schedule();
  }

  /** Listens to other tabs, if the platform has `BroadcastChannel`. Does not keep the program running. */
  #listen(): BroadcastChannel | undefined {
    if (!('BroadcastChannel' in globalThis)) return undefined;
    const channel = new BroadcastChannel(STORAGE_KEY);
    channel.onmessage = ({ data }) => {
      this.#latestChange = this.#applyChangeOfOtherTab(data).catch(() => {});
    };
    (channel as { unref?(): void }).unref?.();
    return channel;
  }

  /** Applies another tab's log-in, log-out or renewal once the storage shows it, or after `STORAGE_DELAY_MAX_MS`. */
  async #applyChangeOfOtherTab(text: string | null): Promise<void> {
    const deadline = performance.now() + STORAGE_DELAY_MAX_MS;
    while ((await this.#storage.getItem(STORAGE_KEY)) !== text && performance.now() < deadline)
      await sleep(10);
    const tokens = await this.#read();
    if (tokens?.access === this.#knownAccess) return;
    await this.#schedule();
    this.#notifyTokens(tokens && { access: tokens.access, refresh: tokens.refresh });
  }

  #notifyTokens(tokens: Tokens | undefined): void {
    this.#knownAccess = tokens?.access;
    this.#onTokens?.(tokens);
  }

  /** `waited` is true if another tab held the lock. The storage may not show that tab's new tokens yet. */
  async #renew(refused: Record<string, string>, waited: boolean): Promise<boolean> {
    await this.#latestChange;
    const isRefused = (tokens: StoredTokens | undefined) =>
      tokens !== undefined && headersOf(tokens.access)['authorization'] === refused['authorization'];
    const deadline = performance.now() + (waited ? STORAGE_DELAY_MAX_MS : 0);
    let tokens = await this.#read();
    while (isRefused(tokens) && performance.now() < deadline) {
      await sleep(10);
      tokens = await this.#read();
    }
    if (tokens === undefined) return false;
    if (!isRefused(tokens)) return true;
    const access = await this.#exchange(tokens.refresh).catch(async (error) => {
      if (!(error instanceof ForecueError) || error.status !== 401) throw error;
      return undefined;
    });
    // A different refresh token means that the person logged out, or logged in again, during the renewal.
    if ((await this.#read())?.refresh !== tokens.refresh) return false;
    if (access === undefined) await this.forget();
    else await this.adopt({ access, refresh: tokens.refresh });
    return access !== undefined;
  }

  /** Runs the work in one tab at a time, if the browser has locks. `waited` is true if another tab had the lock. */
  async #runAlone<T>(work: (waited: boolean) => Promise<T>): Promise<T> {
    const locks = this.#isShared ? globalThis.navigator?.locks : undefined;
    if (locks === undefined) return work(false);
    const atOnce = await locks.request(
      STORAGE_KEY,
      { ifAvailable: true },
      async (lock) => lock && { result: await work(false) },
    );
    return atOnce === null ? locks.request(STORAGE_KEY, () => work(true)) : atOnce.result;
  }

  async #read(): Promise<StoredTokens | undefined> {
    const text = await this.#storage.getItem(STORAGE_KEY);
    try {
      const tokens = JSON.parse(text ?? 'null');
      return typeof tokens?.access === 'string' ? tokens : undefined;
    } catch {
      return undefined;
    }
  }

  /** Schedules the next renewal of the tokens, in `leastMs` at the earliest. */
  async #schedule(leastMs = 0): Promise<void> {
    const tokens = await this.#read();
    clearTimeout(this.#timer);
    if (tokens === undefined || this.#isClosed) return;
    // `tokens.at` may lie in the future, if the clock was wrong when the tokens arrived.
    const left = Math.min(RENEW_AFTER_MS, Math.max(leastMs, tokens.at + RENEW_AFTER_MS - Date.now()));
    // `headers` renews old tokens, unless another tab has done so.
    const timer = setTimeout(
      () =>
        this.headers().then(
          () => this.#schedule(RENEWAL_RETRY_MS),
          () => {},
        ),
      left,
    );
    // `unref` lets the program end before the timer fires.
    if (typeof timer === 'object') (timer as { unref?(): void }).unref?.();
    this.#timer = timer;
  }
}

export function headersOf(credential: string): Record<string, string> {
  if (credential.startsWith('service_')) return { 'x-service-api-key': credential };
  return { authorization: `Bearer ${credential}` };
}

/** Throws a `TypeError` that, unlike the error of `fetch`, does not contain the credential. */
export function checkCredential(name: string, credential: string): void {
  if (!/^[\x21-\x7e]+$/.test(credential))
    throw new TypeError(`${name}: it is empty, or has spaces or line breaks in it`);
}

function memoryStorage(): TokenStorage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => items.set(key, value),
    removeItem: (key) => items.delete(key),
  };
}
