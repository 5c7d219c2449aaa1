import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Locator, Page, Worker } from 'playwright-core';
import { buildExtension } from '../../bin/client/extension.ts';
import { someEmail, type UserClient } from './account.ts';
import { openBrowserWith } from './browser.ts';
import type { System } from './system.ts';

const PASSWORD = 'a horse with 9 staples';

/** What the extension keeps, once it differs from what it begins with. */
interface Settings {
  grant?: Record<string, string> | null;
  sitesOff?: string[];
}

/** A Chromium with the browser extension. */
export class ExtendedBrowser implements AsyncDisposable {
  readonly context: BrowserContext;
  readonly worker: Worker;
  readonly #folder: string;

  private constructor(context: BrowserContext, worker: Worker, folder: string) {
    this.context = context;
    this.worker = worker;
    this.#folder = folder;
  }

  static async open(): Promise<ExtendedBrowser> {
    const folder = await mkdtemp(join(tmpdir(), 'forecue-extension-'));
    await buildExtension(folder);
    const context = await openBrowserWith(folder);
    context.setDefaultTimeout(20_000);
    try {
      const started = () => context.waitForEvent('serviceworker', { timeout: 60_000 });
      const [worker = await started()] = context.serviceWorkers();
      return new ExtendedBrowser(context, worker, folder);
    } catch (error) {
      await context.close();
      throw error;
    }
  }

  /** Opens a page of the extension itself, while the page of a site stays in front of it. */
  async openOwn(name: 'popup' | 'options', site?: Page): Promise<Page> {
    const page = await this.context.newPage();
    await site?.bringToFront();
    await page.goto(new URL(`${name}.html`, this.worker.url()).href);
    return page;
  }

  /** Reads what the extension keeps, as only its own parts can. */
  readSettings(): Promise<Settings> {
    return this.worker.evaluate('chrome.storage.local.get()');
  }

  /** Tells the extension where its server is. */
  async choose(server: string): Promise<void> {
    const options = await this.openOwn('options');
    await options.getByLabel('Address of the server').fill(server);
    await options.getByRole('button', { name: 'Save' }).click();
    await options.getByRole('status').filter({ hasText: 'Saved' }).waitFor();
    await options.close();
  }

  /** Begins to sign in, and returns the window in which the server asks. */
  async beginSignIn(): Promise<Page> {
    const popup = await this.openOwn('popup');
    const [asking] = await Promise.all([
      this.context.waitForEvent('page'),
      popup.getByRole('button', { name: 'Sign in' }).click(),
    ]);
    return asking;
  }

  /** Lets the extension into the account of a person, or of a new one. */
  async signIn(system: Pick<System, 'webs'>, person?: Pick<UserClient, 'email'>): Promise<void> {
    await this.context.clearCookies();
    await this.choose((system.webs[0]?.url ?? '').replace('127.0.0.1', 'localhost'));
    const asking = await this.beginSignIn();
    if (person === undefined) await asking.getByRole('link', { name: 'Create an account' }).click();
    await asking.getByLabel('E-mail').fill(person?.email ?? someEmail());
    await asking.getByLabel('Password').fill(PASSWORD);
    await asking.getByRole('button', { name: person === undefined ? 'Create account' : 'Sign in' }).click();
    await this.answer(asking, 'Allow');
    await this.closeOwn((text) => text.getByText('Signed in at'));
  }

  /** Answers the server's question, upon which its window closes. */
  async answer(asking: Page, answer: 'Allow' | 'Deny'): Promise<void> {
    const button = asking.getByRole('button', { name: answer });
    await Promise.all([asking.waitForEvent('close'), button.click()]);
  }

  /** Closes the extension's own pages, once they show something. */
  async closeOwn(shown: (page: Page) => Locator): Promise<void> {
    for (const page of this.context.pages()) {
      if (!page.url().startsWith('chrome-extension:')) continue;
      await shown(page).waitFor();
      await page.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.context.close();
    await rm(this.#folder, { recursive: true });
  }
}
