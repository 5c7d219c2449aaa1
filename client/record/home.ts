import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { baseOf } from '../src/base-url.ts';
import { checkCredential } from '../src/session.ts';

/** Address that sessions are sent to, and the key to send them with. */
export interface Connection {
  url: string;
  key: string;
}

/** Folder that only its owner can read. */
const HOME = join(homedir(), '.forecue');
const CONNECTION = join(HOME, 'connection.json');
const BOOKMARKS = join(HOME, 'bookmarks');
const FAILURE = join(HOME, 'failure.txt');
/** A copy of this program, because the package may be in a cache that gets emptied. */
const PROGRAM = join(HOME, 'record.mjs');

/** Returns the connection that the environment names. Throws a `TypeError` if it is invalid. */
export function connectionIn({
  FORECUE_URL: url,
  FORECUE_KEY: key,
}: NodeJS.ProcessEnv): Connection | undefined {
  if (!url || !key) return undefined;
  checkCredential('FORECUE_KEY', key);
  if (!key.startsWith('service_'))
    throw new TypeError('FORECUE_KEY: a key of an account begins with service_');
  return { url: baseOf(url), key };
}

/** Returns the connection that was set up. */
export async function readConnection(): Promise<Connection | undefined> {
  const text = await readFile(CONNECTION, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Stores the connection and a copy of this program. Returns the program's path. */
export async function setUp(connection: Connection): Promise<string> {
  await mkdir(BOOKMARKS, { recursive: true, mode: 0o700 });
  await replace(CONNECTION, JSON.stringify(connection));
  await noteFailure(undefined);
  const running = process.argv[1] ?? '';
  if (running !== PROGRAM) await copyFile(running, PROGRAM);
  return PROGRAM;
}

export async function remove(): Promise<void> {
  await rm(HOME, { recursive: true, force: true });
}

/** Stores why the latest recording failed, to be reported by the next one; undefined if it succeeded. */
export async function noteFailure(failure: string | undefined): Promise<void> {
  if (failure === undefined) await rm(FAILURE, { force: true });
  else await replace(FAILURE, failure);
}

export function readFailure(): Promise<string | undefined> {
  return readFile(FAILURE, 'utf8').catch(() => undefined);
}

/**
 * Returns the id of a transcript's last recorded event. Without it all events are sent again, which duplicates none.
 */
export function readBookmark(transcript: string): Promise<string | undefined> {
  return readFile(bookmarkOf(transcript), 'utf8').catch(() => undefined);
}

export function setBookmark(transcript: string, eventId: string): Promise<void> {
  return replace(bookmarkOf(transcript), eventId);
}

function bookmarkOf(transcript: string): string {
  return join(BOOKMARKS, createHash('sha256').update(transcript).digest('hex').slice(0, 32));
}

/** Writes a file completely or not at all. */
async function replace(path: string, text: string): Promise<void> {
  const next = `${path}.${process.pid}`;
  await writeFile(next, text, { mode: 0o600 });
  await rename(next, path);
}
