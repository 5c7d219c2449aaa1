import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { LoginResponse } from '../../shared/schemas/accounts.ts';
import { anonymously, someEmail, UserClient } from '../support/account.ts';
import { openBrowser } from '../support/browser.ts';
import { duringSuite } from '../support/during-suite.ts';
import { type System, startSystem } from '../support/system.ts';

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
export function useConsole(): AsyncDisposable & { system: System; browser: Browser } {
  return duringSuite(async () => {
    const [system, browser] = await Promise.all([startConsole(), openBrowser()]);
    const close = async () => {
      await browser.close();
      await system.stop();
    };
    return { system, browser, [Symbol.asyncDispose]: close };
  });
}

/** `complaints` are the errors and warnings that the person's pages logged. */
export interface Person {
  context: BrowserContext;
  email: string;
  complaints: string[];
  open(path?: string): Promise<Page>;
}

/** Opens a browser context for a new person, who has no account yet. */
export async function personIn(
  { system, browser }: { system: System; browser: Browser },
  options: BrowserContextOptions = {},
): Promise<Person> {
  const context = await browser.newContext({ viewport: DESKTOP, locale: 'en-GB', ...options });
  context.setDefaultTimeout(DEFAULT_TIMEOUT_MS);
  const complaints: string[] = [];
  return {
    context,
    email: someEmail(),
    complaints,
    async open(path = '') {
      const page = await context.newPage();
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      await page.goto(`${system.webs[0]?.url}/console/${path}`);
      return page;
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

export async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
}

/** Presses the first button of this name. */
export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).first().click();
}
