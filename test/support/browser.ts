import { accessSync, constants } from 'node:fs';
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

/** Starts a headless Chromium. Close it in `after`. */
export function openBrowser(): Promise<Browser> {
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
