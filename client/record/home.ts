import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { baseOf } from '../src/base-url.ts';
import { checkCredential } from '../src/session.ts';

export interface Connection {
  url: string;
  key: string;
}

/** A transcript whose latest recording failed. */
export interface UnsentTranscript {
  path: string;
  /** True if the session has ended. */
  isOver: boolean;
  why: string;
}

export const HOME = join(homedir(), '.forecue');
const CONNECTION = join(HOME, 'connection.json');
const BOOKMARKS = join(HOME, 'bookmarks');
const UNSENT = join(HOME, 'unsent');
/** A copy of this program, because the package may be in a cache that gets emptied. */
export const PROGRAM_COPY = join(HOME, 'record.mjs');

/** Throws a `TypeError` for an invalid address or key. */
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

export async function readConnection(): Promise<Connection | undefined> {
  const text = await readFile(CONNECTION, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Stores the connection and a copy of this program. Returns the path of the copy. */
export async function setUp(connection: Connection): Promise<string> {
  for (const folder of [HOME, BOOKMARKS, UNSENT]) await makeFolder(folder);
  await replace(CONNECTION, JSON.stringify(connection));
  return copyProgram(PROGRAM_COPY);
}

/** Makes a folder for its owner alone. It may have been there, open to others. */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
}

/** Copies the running program. Returns the path of the copy. */
async function copyProgram(copy: string): Promise<string> {
  const running = process.argv[1] ?? '';
  if (running !== copy) await replace(copy, await readFile(running, 'utf8'));
  return copy;
}

export async function removeFiles(): Promise<void> {
  for (const path of [CONNECTION, BOOKMARKS, UNSENT, PROGRAM_COPY])
    await rm(path, { recursive: true, force: true });
  await removeEmptyHome();
}

/** Leaves the folder if something else of ours is in it. */
export async function removeEmptyHome(): Promise<void> {
  await rmdir(HOME).catch(() => undefined);
}

export function noteUnsent(unsent: UnsentTranscript): Promise<void> {
  return replace(join(UNSENT, nameOf(unsent.path)), JSON.stringify(unsent));
}

export function forgetUnsent(transcript: string): Promise<void> {
  return rm(join(UNSENT, nameOf(transcript)), { force: true });
}

export async function readUnsent(): Promise<UnsentTranscript[]> {
  const names = await readdir(UNSENT).catch(() => []);
  // A file may be missing by now, as a successful recording of its transcript removes it, or be broken.
  const read = async (name: string) => JSON.parse(await readFile(join(UNSENT, name), 'utf8'));
  const settled = await Promise.allSettled(names.map(read));
  return settled.flatMap((one) => (one.status === 'fulfilled' && one.value?.path ? [one.value] : []));
}

/** Returns the id of the last recorded event. If undefined, all events are sent again; the server drops duplicates. */
export function readBookmark(transcript: string): Promise<string | undefined> {
  return readFile(join(BOOKMARKS, nameOf(transcript)), 'utf8').catch(() => undefined);
}

export function setBookmark(transcript: string, eventId: string): Promise<void> {
  return replace(join(BOOKMARKS, nameOf(transcript)), eventId);
}

function nameOf(transcript: string): string {
  return createHash('sha256').update(transcript).digest('hex').slice(0, 32);
}

/** Writes a file completely or not at all, and through no link that was there. */
export async function replace(path: string, text: string): Promise<void> {
  const next = join(HOME, `${basename(path)}.${process.pid}`);
  await rm(next, { force: true });
  await writeFile(next, text, { mode: 0o600, flag: 'wx' });
  await rename(next, path);
}
