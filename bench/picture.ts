/**
 * Makes docs/console.png, the picture in the README, anew: the page "Try it" of the person of `admin demo`.
 * `npm start` must run in this checkout, on an empty `.data/`. Run: `bin/node bench/picture.ts`
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from '../test/support/browser.ts';

const CHECKOUT = join(import.meta.dirname, '..');
const PICTURE = join(CHECKOUT, 'docs/console.png');
const BYTES_MAX = 150_000;

const address = readFileSync(join(CHECKOUT, '.data/address'), 'utf8').trim();
const admin = [join(CHECKOUT, 'bin/admin/main.ts'), 'demo', '--json'];
const { email, password } = JSON.parse(execFileSync(process.execPath, admin, { encoding: 'utf8' }));
const browser = await openBrowser();
try {
  const page = await browser.newPage({ viewport: { width: 1180, height: 700 } });
  await page.goto(`${address}/console/`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').first().fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Try it' }).first().click();
  await page.getByLabel('What it asks').fill('Shall I run the tests with coverage?');
  await page.getByRole('button', { name: 'Predict my reply' }).click();
  await page.getByRole('heading', { name: 'What it rests on' }).waitFor();
  await page.getByLabel('Your reply to it').pressSequentially('yes, I alw', { delay: 40 });
  await page.locator('[data-forecue=ghost]', { hasText: 'ays want coverage' }).waitFor();
  await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: PICTURE });
} finally {
  await browser.close();
}
const { size } = statSync(PICTURE);
console.log(`docs/console.png: ${size} bytes`);
if (size > BYTES_MAX) throw new Error(`the picture is larger than ${BYTES_MAX} bytes`);
