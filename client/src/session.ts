import { ForecueError } from './errors.ts';
import { type Credentials, sleep } from './transport.ts';

/** Tokens that a log-in gives. */
export interface Tokens {
  /** Good for an hour. */
  access: string;
  /** Renews the other for 30 days. */
  refresh: string;
}

/** Keeps tokens for the next page, and shares them with other tabs: `localStorage` is one. */
export interface TokenStorage {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): unknown;
  removeItem(key: string): unknown;
}

export interface SessionOptions {
  /** An access token or a key, `service_…`: its shape chooses the header. Or both tokens, which are renewed. */
  credential?: string | Tokens;
  /** The storage for tokens; memory by default. */
  storage?: TokenStorage;
  /** Called with the tokens whenever they change, and with undefined when nobody is logged in any more. */
  onTokens?: (tokens: Tokens | undefined) => void;
}

/** Tokens, and when this machine got them: no two clocks are compared. */
interface Kept extends Tokens {
  at: number;
}

const RENEW_AFTER_MS = 50 * 60_000;
const KEY = 'forecue.tokens';
/** Another tab's message, and its lock, may arrive before what it wrote shows in the storage. */
const SEEN_WITHIN_MS = 1000;

/**
 * An account's credential. Tokens are renewed after 50 minutes and on a 401: once, for any number of calls that wait for
 * it, and for all tabs that share the storage.
 */
export class Session implements Credentials {
  readonly #storage: TokenStorage;
  readonly #isShared: boolean;
  readonly #fixed: string | undefined;
  readonly #onTokens: SessionOptions['onTokens'];
  readonly #exchange: (refresh: string) => Promise<string>;
  #renewal: Promise<boolean> | undefined;
  readonly #channel: BroadcastChannel | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #begun: Promise<void>;
  /** This tab has seen what another one did last. */
  #heard: Promise<void> = Promise.resolve();
  /** The access token that the page was told of last. */
  #told: string | undefined;

  /** Throws a `TypeError` for a credential that no header can carry. */
  constructor(
    { credential, storage, onTokens }: SessionOptions,
    exchange: (refresh: string) => Promise<string>,
  ) {
    this.#storage = storage ?? memory();
    this.#isShared = storage !== undefined;
    this.#onTokens = onTokens;
    this.#exchange = exchange;
    this.#fixed = typeof credential === 'string' ? credential : undefined;
    for (const one of typeof credential === 'object'
      ? [credential.access, credential.refresh]
      : [credential ?? '-'])
      checkCredential('credential', one);
    this.#channel = this.#isShared ? this.#listen() : undefined;
    this.#begun = typeof credential === 'object' ? this.adopt(credential) : this.#begin();
    this.#begun.catch(() => {});
  }

  async headers(): Promise<Record<string, string>> {
    if (this.#fixed !== undefined) return headersOf(this.#fixed);
    await this.#begun;
    const kept = await this.#read();
    if (kept === undefined) return {};
    const headers = headersOf(kept.access);
    if (Date.now() - kept.at < RENEW_AFTER_MS) return headers;
    // A machine that slept has missed its timer. Should this fail, the old token may still do.
    await this.renew(headers).catch(() => {});
    const renewed = await this.#read();
    return renewed === undefined ? {} : headersOf(renewed.access);
  }

  /** Renews the tokens, unless others than the refused ones are there already. */
  renew(refused: Record<string, string>): Promise<boolean> {
    if (this.#fixed !== undefined) return Promise.resolve(false);
    this.#renewal ??= this.#alone((waited) => this.#renew(refused, waited)).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async adopt({ access, refresh }: Tokens): Promise<void> {
    const text = JSON.stringify({ access, refresh, at: Date.now() } satisfies Kept);
    await this.#storage.setItem(KEY, text);
    await this.#schedule();
    this.#tell({ access, refresh });
    this.#channel?.postMessage(text);
  }

  async forget(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#storage.removeItem(KEY);
    this.#tell(undefined);
    this.#channel?.postMessage(null);
  }

  /** Undefined where nobody is logged in. */
  async refreshToken(): Promise<string | undefined> {
    return (await this.#read())?.refresh;
  }

  /** Ends the timer, and hears no other tab any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#channel?.close();
  }

  async #begin(): Promise<void> {
    this.#told = (await this.#read())?.access;
    await this.#schedule();
  }

  /** Hears of other tabs, where there are any; keeps no program running. */
  #listen(): BroadcastChannel | undefined {
    if (!('BroadcastChannel' in globalThis)) return undefined;
    const channel = new BroadcastChannel(KEY);
    channel.onmessage = ({ data }) => {
      this.#heard = this.#hear(data).catch(() => {});
    };
    (channel as { unref?(): void }).unref?.();
    return channel;
  }

  /** Another tab has logged in or out, or renewed the tokens: so has this one, once it sees that in the storage too. */
  async #hear(text: string | null): Promise<void> {
    const late = performance.now() + SEEN_WITHIN_MS;
    while ((await this.#storage.getItem(KEY)) !== text && performance.now() < late) await sleep(10);
    const kept = await this.#read();
    if (kept?.access === this.#told) return;
    await this.#schedule();
    this.#tell(kept && { access: kept.access, refresh: kept.refresh });
  }

  #tell(tokens: Tokens | undefined): void {
    this.#told = tokens?.access;
    this.#onTokens?.(tokens);
  }

  /** `waited`: another tab has just ended its renewal, which may not show in the storage yet. */
  async #renew(refused: Record<string, string>, waited: boolean): Promise<boolean> {
    await this.#heard;
    const isRefused = (kept: Kept | undefined) =>
      kept !== undefined && headersOf(kept.access)['authorization'] === refused['authorization'];
    const late = performance.now() + (waited ? SEEN_WITHIN_MS : 0);
    let kept = await this.#read();
    while (isRefused(kept) && performance.now() < late) {
      await sleep(10);
      kept = await this.#read();
    }
    if (kept === undefined) return false;
    if (!isRefused(kept)) return true;
    const access = await this.#exchange(kept.refresh).catch(async (error) => {
      if (!(error instanceof ForecueError) || error.status !== 401) throw error;
      return undefined;
    });
    // Somebody logged out or in meanwhile.
    if ((await this.#read())?.refresh !== kept.refresh) return false;
    if (access === undefined) await this.forget();
    else await this.adopt({ access, refresh: kept.refresh });
    return access !== undefined;
  }

  /** Runs the work while no other tab does, and says whether it had to wait for one. */
  async #alone<T>(work: (waited: boolean) => Promise<T>): Promise<T> {
    const locks = this.#isShared ? globalThis.navigator?.locks : undefined;
    if (locks === undefined) return work(false);
    const atOnce = await locks.request(
      KEY,
      { ifAvailable: true },
      async (lock) => lock && { result: await work(false) },
    );
    return atOnce === null ? locks.request(KEY, () => work(true)) : atOnce.result;
  }

  async #read(): Promise<Kept | undefined> {
    const text = await this.#storage.getItem(KEY);
    try {
      const kept = JSON.parse(text ?? 'null');
      return typeof kept?.access === 'string' ? kept : undefined;
    } catch {
      return undefined;
    }
  }

  async #schedule(): Promise<void> {
    const kept = await this.#read();
    clearTimeout(this.#timer);
    if (kept === undefined) return;
    const left = Math.max(0, kept.at + RENEW_AFTER_MS - Date.now());
    // `headers` renews what is due; another tab may have done so.
    const timer = setTimeout(
      () =>
        this.headers().then(
          () => this.#schedule(),
          () => {},
        ),
      left,
    );
    // Keeps no program running.
    if (typeof timer === 'object') (timer as { unref?(): void }).unref?.();
    this.#timer = timer;
  }
}

/** A credential in the header of its shape. */
export function headersOf(credential: string): Record<string, string> {
  if (credential.startsWith('service_')) return { 'x-service-api-key': credential };
  return { authorization: `Bearer ${credential}` };
}

/** Throws a `TypeError`, without the credential: `fetch` would name it in its own. */
export function checkCredential(name: string, credential: string): void {
  if (!/^[\x21-\x7e]+$/.test(credential))
    throw new TypeError(`${name}: it is empty, or has spaces or line breaks in it`);
}

function memory(): TokenStorage {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
}
