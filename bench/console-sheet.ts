/**
 * Pictures of every page of the console, in both themes and two widths, to look at after a change of its looks:
 * `bin/node bench/console-sheet.ts FOLDER [part of a page's name]`.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { clientOf, loadSample, personIn, signUp, startConsole } from '../test/console/visit.ts';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../test/setup.ts';
import type { UserClient } from '../test/support/account.ts';
import { openBrowser } from '../test/support/browser.ts';
import { connect, connectingApp, startConnection } from '../test/support/connection.ts';
import { permissionEvent, permissionRequest } from '../test/support/permissions.ts';
import { post } from '../test/support/recording.ts';
import { until } from '../test/support/until.ts';

const [folder = 'sheet', part = ''] = process.argv.slice(2);
const SIZES = { wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };
const THEMES = ['light', 'dark'] as const;
const PAGES = {
  start: 'start',
  inbox: 'inbox',
  decisions: 'decisions',
  facts: 'memory/facts',
  found: 'memory/facts?q=tests',
  episodes: 'memory/episodes',
  messages: 'memory/raw',
  timeline: 'memory/timeline',
  profile: 'memory/profile',
  overview: 'overview',
  try: 'try',
  connections: 'connections',
  apps: 'apps',
  keys: 'keys',
  account: 'account',
};
const TOPICS = [
  ['I prefer pnpm over npm for new projects.', 'preference'],
  ['My editor is Neovim, and I use it for everything but notebooks.', 'environment'],
  ['I never want merge commits: rebase instead.', 'habit'],
  ['Commit messages are in English, in the imperative.', 'style'],
  ['I work from Vienna, in the time zone Europe/Vienna.', 'identity'],
  ['Tests run with coverage before each push to the main branch.', 'habit'],
  ['Answers should be short, without a summary at the end.', 'style'],
  ['The staging database is PostgreSQL 17 on port 5433.', 'environment'],
] as const;
const QUESTIONS = [
  'Shall I run the tests with coverage?',
  'Shall I merge or rebase this branch?',
  'The migration drops a column that the last release still reads. Shall I split it into two releases?',
  'Which package manager shall I use for the new service?',
];

await mochaGlobalSetup();
const [system, browser] = await Promise.all([startConsole({ RATE_LIMIT_RPS: '0' }), openBrowser()]);
try {
  const person = await personIn({ system, browser });
  const page = await person.open();
  await signUp(page, person.email);
  await loadSample(page);
  const client = await clientOf(system, person);
  await fill(client);
  const app = await connectingApp(system);
  await connect(system, app, { id: client.id });
  const consent = (await startConnection(app, 'u-2')).authorize_url;
  mkdirSync(folder, { recursive: true });
  const inEachLook = async (
    name: string,
    at: Page,
    open: () => Promise<unknown>,
    then = async (_look: string) => {},
  ) => {
    if (!name.includes(part)) return;
    for (const [width, size] of Object.entries(SIZES))
      for (const colorScheme of THEMES) {
        await at.setViewportSize(size);
        await at.emulateMedia({ colorScheme });
        await open();
        await at.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
        await then(`${width}-${colorScheme}`);
      }
  };
  const loaded = () => until(async () => (await page.locator('.skeleton').count()) === 0);
  for (const [name, path] of Object.entries(PAGES)) {
    const open = async () => {
      await page.goto(`${page.url().replace(/#.*/, '')}#/${path}`);
      await page.reload();
      await page.locator('h1').waitFor();
      await loaded();
    };
    await inEachLook(name, page, open, async (look) => {
      const row = page.locator('.a-row .main').first();
      if ((await row.count()) === 0) return;
      await row.click();
      await page.locator('dialog.pane').waitFor();
      await loaded();
      await page.screenshot({ path: join(folder, `${name}-open-${look}.png`) });
      await page.keyboard.press('Escape');
    });
  }
  const stranger = await personIn({ system, browser });
  const tab = await stranger.open();
  await inEachLook('sign-in', tab, () => tab.reload().then(() => tab.locator('h1').waitFor()));
  await inEachLook('consent-sign-in', tab, () => tab.goto(consent));
  await tab.goto(consent);
  await tab.getByLabel('E-mail').fill(person.email);
  await tab.getByLabel('Password').fill(client.password);
  await tab.keyboard.press('Enter');
  await tab.getByRole('button', { name: 'Allow' }).waitFor();
  await inEachLook('consent', tab, () => tab.goto(consent));
  console.log(`${folder}: ${person.complaints.length} complaints`, person.complaints.slice(0, 3));
} finally {
  await browser.close();
  await system.stop();
  await mochaGlobalTeardown();
}

async function fill(client: UserClient): Promise<void> {
  const facts = Array.from({ length: 48 }, (_, nth) => {
    const [text = '', kind = null] = TOPICS[nth % TOPICS.length] ?? [];
    return { text: nth < TOPICS.length ? text : `${text} (${nth})`, kind, pinned: nth === 2 };
  });
  await client.request('POST', '/api/memory/facts/', facts);
  for (const agent_input of QUESTIONS)
    await client.request('POST', '/api/predictions/predict/', {
      agent: 'coder',
      agent_input,
      k: 3,
      threshold: 1,
    });
  const usual = ['npm test', 'npm run lint'].flatMap((command) => [command, command]);
  await post(
    client,
    usual.map((command) => permissionEvent(command)),
  );
  for (const command of usual)
    await client.request('POST', '/api/predictions/permission/', permissionRequest(command));
  const app = { name: 'Notebook', redirect_uris: ['https://notebook.example/callback'] };
  await client.request('POST', '/api/apps/', app);
  for (const label of ['Claude Code on the laptop', 'recorder'])
    await client.request('POST', '/api/auth/keys/', { label, scopes: ['read', 'predict', 'write'] });
}
