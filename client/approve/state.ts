import { appendFileSync, readFileSync, renameSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { objectOf, stringOf, tryParseObject } from '../../shared/transcripts/json.ts';
import { type Connection, HOME, makeFolder, removeEmptyHome, replace } from '../record/home.ts';

/** `shadow`: asks and notes what it would answer, but says nothing. */
export type Mode = 'on' | 'off' | 'shadow';

/** Settings of the hook, in a file, because agents run it with an environment that may be days old. */
export interface Settings extends Connection {
  mode: Mode;
  /** How long the agent may wait for an answer. */
  waitMs: number;
}

/** A file of an agent, as it was before the hook was added, and after. */
export interface ChangedFile {
  before: string | null;
  after: string;
  /** Codex's mark of trust at that time: while it is the same, the changed hook is not trusted. */
  trust: string | null;
}

const SETTINGS = join(HOME, 'approve.json');
const CHANGED_FILES = join(HOME, 'approve-files.json');
const LOG = join(HOME, 'approve.log');
export const PROGRAM_COPY = join(HOME, 'approve.cjs');
export const WAIT_MS = { default: 300, max: 2000 };
const LOG_BYTES_MAX = 262_144;

/** Returns undefined if there are none, or if they are broken. */
export function readSettings(): Settings | undefined {
  const { url, key, mode, waitMs } = tryParseObject(textOf(SETTINGS)) ?? {};
  if (typeof url !== 'string' || typeof key !== 'string') return undefined;
  const isMode = mode === 'off' || mode === 'shadow';
  return {
    url,
    key,
    mode: isMode ? mode : 'on',
    waitMs: typeof waitMs === 'number' ? waitMs : WAIT_MS.default,
  };
}

export async function writeSettings(settings: Settings): Promise<void> {
  await makeFolder(HOME);
  await replace(SETTINGS, JSON.stringify(settings));
}

export function readChangedFiles(): Map<string, ChangedFile> {
  const files = Object.entries(tryParseObject(textOf(CHANGED_FILES)) ?? {});
  return new Map(
    files.map(([path, file]) => {
      const { before, after, trust } = objectOf(file);
      return [
        path,
        { before: stringOf(before) ?? null, after: String(after), trust: stringOf(trust) ?? null },
      ];
    }),
  );
}

export function writeChangedFiles(files: ReadonlyMap<string, ChangedFile>): Promise<void> {
  return replace(CHANGED_FILES, JSON.stringify(Object.fromEntries(files)));
}

/**
 * Adds a line about one request: never what was asked for, which is in the person's account alone. An answer matters more
 * than its note, so errors are ignored.
 */
export function note(line: string): void {
  try {
    const { size = 0 } = statSync(LOG, { throwIfNoEntry: false }) ?? {};
    if (size > LOG_BYTES_MAX) renameSync(LOG, `${LOG}.1`);
    appendFileSync(LOG, `${new Date().toISOString()} ${line}\n`, { mode: 0o600 });
  } catch {}
}

export function latestNotes(count: number): string[] {
  const text = textOf(`${LOG}.1`) + textOf(LOG);
  return text.split('\n').filter(Boolean).slice(-count);
}

export async function removeState(): Promise<void> {
  for (const path of [SETTINGS, CHANGED_FILES, LOG, `${LOG}.1`, PROGRAM_COPY])
    await rm(path, { force: true });
  await removeEmptyHome();
}

/** Is synchronous because an agent waits for the hook, and `node:fs/promises` takes milliseconds to load. */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
