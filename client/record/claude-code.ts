import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { type JsonObject, objectOf, objectsOf, parseObject } from '../../shared/transcripts/json.ts';

const HOME = process.env['CLAUDE_CONFIG_DIR'] ?? join(homedir(), '.claude');
const SETTINGS = join(HOME, 'settings.json');
export const TRANSCRIPTS = join(HOME, 'projects');

/** Hook events: the end of an agent's turn, and the end of the session. */
const HOOK_EVENTS = ['Stop', 'SessionEnd'];
const OUR_COMMAND = /[/\\]\.forecue[/\\]record\.mjs["'] hook$/;
/** Time limit of a hook in seconds; short, because a hook only starts the process that records. */
const HOOK_TIMEOUT_S = 10;

/** Adds our hooks to Claude Code's settings. Returns the path of the settings file. */
export async function addHooks(program: string): Promise<string> {
  const command = `${quote(process.execPath)} ${quote(program)} hook`;
  const hook = { hooks: [{ type: 'command', command, timeout: HOOK_TIMEOUT_S }] };
  const settings = withoutOurs(await readSettings());
  const hooks = objectOf(settings['hooks']);
  const addedHooks = HOOK_EVENTS.map((event) => [event, [...objectsOf(hooks[event]), hook]]);
  await writeSettings({ ...settings, hooks: { ...hooks, ...Object.fromEntries(addedHooks) } });
  return SETTINGS;
}

/** Quotes a path for the shell that runs hooks: within single quotes, no character of a folder's name is special. */
function quote(path: string): string {
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}

export async function removeHooks(): Promise<void> {
  const settings = await readSettings();
  if (settings['hooks'] !== undefined) await writeSettings(withoutOurs(settings));
}

/** Removes our hooks from the settings, and the keys that this leaves empty. */
function withoutOurs({ hooks, ...settings }: JsonObject): JsonObject {
  const left = Object.entries(objectOf(hooks)).flatMap(([event, groups]) => {
    if (!Array.isArray(groups) || !HOOK_EVENTS.includes(event)) return [[event, groups]];
    const others = groups.filter((group) => !isOurs(group));
    return others.length === 0 ? [] : [[event, others]];
  });
  return left.length === 0 ? settings : { ...settings, hooks: Object.fromEntries(left) };
}

function isOurs(group: unknown): boolean {
  return objectsOf(objectOf(group)['hooks']).some(({ command }) => OUR_COMMAND.test(String(command)));
}

/** Throws a `TypeError` if the file is not a JSON object: rewriting it would lose what the person wrote. */
async function readSettings(): Promise<JsonObject> {
  const text = await readFile(SETTINGS, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  try {
    return parseObject(text.trim() || '{}');
  } catch {
    throw new TypeError(`${SETTINGS} is not a JSON object: nothing was changed`);
  }
}

async function writeSettings(settings: JsonObject): Promise<void> {
  await mkdir(dirname(SETTINGS), { recursive: true });
  await writeFile(SETTINGS, `${JSON.stringify(settings, null, 2)}\n`);
}
