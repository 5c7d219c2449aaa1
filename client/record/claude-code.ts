import { homedir } from 'node:os';
import { join } from 'node:path';
import { quote, readHooksFile, textOfHooks, withHooks, withoutHooks, writeHooksFile } from './hooks-file.ts';

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
  const hook = { type: 'command', command, timeout: HOOK_TIMEOUT_S };
  const settings = withoutHooks(await readHooksFile(SETTINGS), HOOK_EVENTS, OUR_COMMAND);
  await writeHooksFile(SETTINGS, textOfHooks(withHooks(settings, HOOK_EVENTS, hook)));
  return SETTINGS;
}

export async function removeHooks(): Promise<void> {
  const settings = await readHooksFile(SETTINGS);
  if (settings['hooks'] !== undefined)
    await writeHooksFile(SETTINGS, textOfHooks(withoutHooks(settings, HOOK_EVENTS, OUR_COMMAND)));
}
