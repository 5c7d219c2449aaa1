import { existsSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { escapeInvisible, print } from '../../shared/text/visible.ts';
import { connectionIn, readConnection, replace } from '../record/home.ts';
import { createAccountClient } from '../src/api.ts';
import { AGENTS, addHook, removeHook, stateOf } from './agents.ts';
import {
  latestNotes,
  type Mode,
  PROGRAM_COPY,
  readChangedFiles,
  readSettings,
  removeState,
  WAIT_MS,
  writeSettings,
} from './state.ts';

const NOTES_SHOWN = 20;
const NOT_INSTALLED = new TypeError('not installed: run `approve install` first');

export interface ApproveOptions {
  /** `on` and `off` are of the whole account, not of this machine. */
  account: boolean;
  project: boolean;
  shadow: boolean;
  waitMs: string | undefined;
}

export async function approve([command = '', ...names]: string[], options: ApproveOptions): Promise<void> {
  switch (command) {
    case 'install':
      return install(names, options);
    case 'uninstall':
      return uninstall();
    case 'status':
      return showStatus();
    case 'why':
      return print([...latestNotes(NOTES_SHOWN).map(escapeInvisible), ''].join('\n'));
    case 'on':
    case 'off':
      return options.account ? switchAccount(command === 'on') : setMode(command);
    case 'shadow':
      return setMode(command);
    default:
      throw new TypeError('forecue approve install|uninstall|status|why|on|off|shadow');
  }
}

async function install(names: readonly string[], { project, shadow, waitMs }: ApproveOptions): Promise<void> {
  const known = readSettings();
  const connection = connectionIn(process.env) ?? known ?? (await readConnection());
  if (connection === undefined)
    throw new TypeError(
      'set FORECUE_URL to the address of Forecue, and FORECUE_KEY to a key with the scope predict',
    );
  const wait = Number(waitMs ?? known?.waitMs ?? WAIT_MS.default);
  if (!(wait >= 1 && wait <= WAIT_MS.max)) throw new TypeError(`--wait-ms: 1 to ${WAIT_MS.max}`);
  const agents = AGENTS.filter(({ name, home }) =>
    names.length === 0 ? existsSync(home) : names.includes(name),
  );
  if (agents.length === 0) throw new TypeError('no agent is found: name claude-code or codex');
  const { url, key } = connection;
  await writeSettings({ url, key, mode: shadow ? 'shadow' : (known?.mode ?? 'on'), waitMs: wait });
  await copyHookProgram();
  for (const agent of agents) {
    const file = agent.files[project ? 'project' : 'user'];
    const isAdded = await addHook(agent, file, PROGRAM_COPY);
    print(`${agent.title}: the hook ${isAdded ? 'is' : 'was already'} in ${file}\n`);
  }
  await showStatus();
}

/** It is beside this program. Agents run a copy, because the package may be in a cache that gets emptied. */
async function copyHookProgram(): Promise<void> {
  const running = await realpath(process.argv[1] ?? '');
  await replace(PROGRAM_COPY, await readFile(join(dirname(running), 'forecue-hook.cjs'), 'utf8'));
}

async function uninstall(): Promise<void> {
  const changed = readChangedFiles();
  for (const agent of AGENTS) {
    const files = [agent.files.user, agent.files.project, ...changed.keys()];
    for (const file of new Set(files)) await removeHook(agent, file, changed.get(file));
  }
  await removeState();
  print('Forecue answers no agent any more. What it decided stays in your account.\n');
}

async function setMode(mode: Mode): Promise<void> {
  const settings = readSettings();
  if (settings === undefined) throw NOT_INSTALLED;
  await writeSettings({ ...settings, mode });
  await showStatus();
}

async function switchAccount(automatic: boolean): Promise<void> {
  const settings = readSettings();
  if (settings === undefined) throw NOT_INSTALLED;
  const { url, key } = connectionIn(process.env) ?? settings;
  await createAccountClient({ baseUrl: url, credential: key }).changeDecisionSettings({ automatic });
  print(
    automatic
      ? 'Forecue may decide for you again, replies too.\n'
      : 'Forecue decides nothing for you any more, on no machine: no permission, no reply.\n',
  );
}

const MODES: Record<Mode, string> = {
  on: 'answers where you allowed the like before',
  off: 'answers nothing',
  shadow: 'answers nothing, and notes what it would have answered',
};

async function showStatus(): Promise<void> {
  const settings = readSettings();
  if (settings === undefined) return print('Not installed.\n');
  const { url, mode, waitMs } = settings;
  print(`Forecue at ${url} ${MODES[mode]} (${mode}), within ${waitMs} ms.\n`);
  const files = new Set([
    ...AGENTS.flatMap((agent) => Object.values(agent.files)),
    ...readChangedFiles().keys(),
  ]);
  for (const agent of AGENTS)
    for (const file of files) {
      const state = await stateOf(agent, file);
      if (state === 'not installed') continue;
      print(`${agent.title}: ${state}, ${file}\n`);
      if (state === 'not trusted yet')
        print('  Start codex in a terminal and trust the hook: until then it does not run.\n');
    }
  const [last] = latestNotes(1);
  if (last !== undefined) print(`Last: ${escapeInvisible(last)}\n`);
}
