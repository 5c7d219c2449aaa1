import { readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { objectOf, objectsOf } from '../../shared/transcripts/json.ts';
import {
  quote,
  readHooksFile,
  runs,
  textOfHooks,
  withHooks,
  withoutHooks,
  writeHooksFile,
} from '../record/hooks-file.ts';
import { type ChangedFile, readChangedFiles, textOf, writeChangedFiles } from './state.ts';

export type AgentName = 'claude-code' | 'codex';

export const CLAUDE_HOME = process.env['CLAUDE_CONFIG_DIR'] ?? join(homedir(), '.claude');
export const CODEX_HOME = process.env['CODEX_HOME'] ?? join(homedir(), '.codex');

interface Agent {
  name: AgentName;
  title: string;
  home: string;
  /** Where its hooks are, for all projects and for that of the working folder. */
  files: { user: string; project: string };
  /** In its auto mode Claude Code runs no `PermissionRequest` hooks, but `PreToolUse` ones before its own check. */
  events: readonly string[];
}

export const AGENTS: readonly Agent[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    home: CLAUDE_HOME,
    files: { user: join(CLAUDE_HOME, 'settings.json'), project: resolve('.claude/settings.local.json') },
    events: ['PermissionRequest', 'PreToolUse'],
  },
  {
    name: 'codex',
    title: 'Codex',
    home: CODEX_HOME,
    files: { user: join(CODEX_HOME, 'hooks.json'), project: resolve('.codex/hooks.json') },
    events: ['PermissionRequest'],
  },
];

const commandOf = (name: AgentName) => new RegExp(String.raw`[/\\]\.forecue[/\\]approve\.cjs["'] ${name}$`);
/** In seconds, and longer than the hook ever takes. */
const HOOK_TIMEOUT_S = 5;

/** Returns false if the hook was there already, just so: Codex trusts an entry by its content. */
export async function addHook({ name, events }: Agent, file: string, program: string): Promise<boolean> {
  const command = `${quote(process.execPath)} ${quote(program)} ${name}`;
  const status = name === 'codex' ? { statusMessage: 'Asking Forecue' } : {};
  const hook = { type: 'command', command, timeout: HOOK_TIMEOUT_S, ...status };
  const settings = await readHooksFile(file);
  const hooks = objectOf(settings['hooks']);
  const isThere = (event: string) =>
    objectsOf(hooks[event]).some((group) => JSON.stringify(group) === JSON.stringify({ hooks: [hook] }));
  if (events.every(isThere)) return false;
  const present = await readFile(file, 'utf8').catch(() => null);
  const changed = readChangedFiles();
  const earlier = changed.get(file);
  const before = earlier !== undefined && earlier.after === present ? earlier.before : present;
  const after = textOfHooks(withHooks(withoutHooks(settings, events, commandOf(name)), events, hook));
  await writeHooksFile(file, after);
  await writeChangedFiles(changed.set(file, { before, after, trust: await trustOf(file, after) }));
  return true;
}

/** Restores the file as it was. If it was changed since, takes out our hooks alone. */
export async function removeHook(
  { name, events }: Agent,
  file: string,
  change: ChangedFile | undefined,
): Promise<void> {
  const present = await readFile(file, 'utf8').catch(() => null);
  if (present === null) return;
  if (change?.after === present) {
    if (change.before === null) await rm(file);
    else await writeHooksFile(file, change.before);
    return;
  }
  const settings = await readHooksFile(file);
  const left = withoutHooks(settings, events, commandOf(name));
  if (JSON.stringify(left) !== JSON.stringify(settings)) await writeHooksFile(file, textOfHooks(left));
}

export type HookState = 'not installed' | 'installed' | 'not trusted yet';

export async function stateOf({ name, events: [event = ''] }: Agent, file: string): Promise<HookState> {
  const text = textOf(file);
  const { hooks } = await readHooksFile(file).catch(() => ({ hooks: {} }));
  if (!objectsOf(objectOf(hooks)[event]).some((group) => runs(group, commandOf(name))))
    return 'not installed';
  if (name !== 'codex') return 'installed';
  const trust = trustOf(file, text);
  const earlier = readChangedFiles().get(file)?.trust ?? null;
  return trust === null || trust === earlier ? 'not trusted yet' : 'installed';
}

/** Returns Codex's mark of trust for our hook in a file with this text; null if there is none. */
function trustOf(file: string, text: string): string | null {
  const { hooks } = JSON.parse(text || '{}');
  const group = objectsOf(objectOf(hooks)['PermissionRequest']).findIndex((one) =>
    runs(one, commandOf('codex')),
  );
  const config = textOf(join(CODEX_HOME, 'config.toml'));
  const [, entry = ''] = config.split(`[hooks.state."${file}:permission_request:${group}:0"]`);
  return /^\s*trusted_hash = "([^"]+)"/.exec(entry)?.[1] ?? null;
}
