import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import type { LoginResponse } from '../../shared/schemas/accounts.ts';
import { anonymously, someEmail, UserClient } from '../support/account.ts';
import { openBrowser } from '../support/browser.ts';
import { duringSuite } from '../support/during-suite.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const PASSWORD = 'a horse with 9 staples';
const DESKTOP = { width: 1440, height: 900 };
const DEFAULT_TIMEOUT_MS = 30_000;

export function startConsole(env: Record<string, string> = {}): Promise<System> {
  return startSystem({
    workerEntry: ['workers/main.ts', 'all'],
    env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local', ...env },
  });
}

/** Only hooks and tests may use what is returned. */
export function useConsole(
  env: () => Record<string, string> = () => ({}),
  open: () => Promise<Browser> = openBrowser,
): AsyncDisposable & { system: System; browser: Browser } {
  return duringSuite(async () => {
    const [system, browser] = await Promise.all([startConsole(env()), open()]);
    const close = async () => {
      await browser.close();
      await system.stop();
    };
    return { system, browser, [Symbol.asyncDispose]: close };
  });
}

/** `complaints` are the errors and warnings that the person's pages logged, with the addresses that they are about. */
export interface Person {
  context: BrowserContext;
  email: string;
  complaints: string[];
  open(path?: string): Promise<Page>;
  /** Resolves once the page has all that it shows, and no request of the person is running. */
  loaded(page: Page): Promise<void>;
}

/** Opens a browser context for a new person, who has no account yet. */
export async function personIn(
  { system, browser }: { system: System; browser: Browser },
  options: BrowserContextOptions = {},
): Promise<Person> {
  const context = await browser.newContext({ viewport: DESKTOP, locale: 'en-GB', ...options });
  context.setDefaultTimeout(DEFAULT_TIMEOUT_MS);
  const complaints: string[] = [];
  const running = new Set<Request>();
  context.on('request', (request) => {
    if (!request.url().endsWith('/api/changes/')) running.add(request);
  });
  for (const end of ['requestfinished', 'requestfailed'] as const)
    context.on(end as 'requestfinished', (request) => running.delete(request));
  return {
    context,
    email: someEmail(),
    complaints,
    async open(path = '') {
      const page = await context.newPage();
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type()))
          complaints.push(`${message.text()} ${message.location().url}`);
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      await page.goto(`${system.webs[0]?.url}/console/${path}`);
      return page;
    },
    async loaded(page) {
      await until(async () => running.size === 0 && (await page.locator('.skeleton').count()) === 0);
    },
  };
}

export async function signUp(page: Page, email: string): Promise<void> {
  await press(page, 'Create an account');
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await press(page, 'Create an account');
  await page.getByRole('heading', { name: 'Your first minute' }).waitFor();
}

/** Opens a page in which a new person has signed up. */
export async function signUpInBrowser(at: Parameters<typeof personIn>[0]) {
  const person = await personIn(at);
  const page = await person.open();
  await signUp(page, person.email);
  return { person, page };
}

/** Returns a client of `/api` that is logged in as the person, for what they do outside the page. */
export async function clientOf(system: System, { email }: Person): Promise<UserClient> {
  const login = { email, password: PASSWORD };
  const { body } = await anonymously<LoginResponse>(system, 'POST', '/api/auth/login/', login);
  const { access, refresh, user } = body;
  return new UserClient({ id: user.id, ...login, access, refresh }, system);
}

/** Adds `count` messages, of which `Row 0 …` is the earliest. */
export async function addMany(client: UserClient, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, nth) => ({
    content: `Row ${nth} ${'says a little more than the one before it. '.repeat(1 + (nth % 4))}`,
    occurred_at: new Date(Date.UTC(2026, 0, 1) + nth * 60_000).toISOString(),
  }));
  for (let at = 0; at < count; at += 200) {
    const { status, text } = await client.request('POST', '/api/memory/raw/', rows.slice(at, at + 200));
    if (status !== 201) throw new Error(`adding was answered ${status} ${text}`);
  }
}

export async function loadSample(page: Page): Promise<void> {
  await press(page, 'Load the sample person');
  await page.getByRole('button', { name: 'Remove the sample person' }).waitFor();
}

/**
 * Follows a link of the navigation, and resolves once the former page is gone. The page "Bring sessions" has no link: other
 * pages lead to it.
 */
export async function goTo(page: Page, name: string): Promise<void> {
  if (name === 'Bring sessions') await page.evaluate(`location.hash = '#/start'`);
  else
    await page
      .getByRole('navigation', { name: 'Pages' })
      // The inbox has the number of waiting predictions in its name.
      .getByRole('link', { name: new RegExp(`^${name}( \\d+ waiting)?$`) })
      .click();
  await until(async () => (await page.title()) === `${name} – Forecue`);
}

/** Presses the first button of this name. */
export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).first().click();
}

/** The row of a list that has this text. */
export const rowWith = (page: Page, text: string | RegExp) =>
  page.locator('.a-row', { hasText: text }).first();

/** Opens the pane of the row. */
export async function openRow(page: Page, text: string | RegExp) {
  await rowWith(page, text).locator('.main').click();
  return page.locator('dialog.pane');
}
