import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { describeWhere } from './describe-where.ts';

const USUAL_PATHS = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

const executablePath = [process.env['CHROMIUM_PATH'], ...USUAL_PATHS].find(isExecutable);
/** Chromium without its own windows, extensions and notifications: tests take a third less time in it. */
const headlessShellPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'chromium-headless-shell'))
  .find(isExecutable);

export function describeInBrowser(title: string, suite: (this: Mocha.Suite) => void): void {
  describeWhere(executablePath !== undefined, title, 'there is no Chromium here: set CHROMIUM_PATH', suite);
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a headless Chromium, its shell if there is one. Close it in `after`. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: headlessShellPath ?? browserPath(), args: FLAGS });
}

/** Starts a headless Chromium that also shows notifications, which its shell does not. Close it in `after`. */
export function openNotifyingBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath(), args: FLAGS });
}

/** Starts a headless Chromium with an unpacked extension, and a profile of its own. Close it in `after`. */
export function openBrowserWith(extension: string): Promise<BrowserContext> {
  return chromium.launchPersistentContext('', {
    executablePath: browserPath(),
    args: [...FLAGS, `--disable-extensions-except=${extension}`, `--load-extension=${extension}`],
    ignoreDefaultArgs: ['--disable-extensions'],
  });
}

function browserPath(): string {
  if (executablePath === undefined) throw new Error('there is no Chromium here');
  return executablePath;
}

function isExecutable(path: string | undefined): path is string {
  if (!path) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
