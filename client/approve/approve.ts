import { existsSync } from 'node:fs';
import { escapeInvisible, print } from '../../shared/text/visible.ts';
import { connectionIn, copyProgram, readConnection } from '../record/home.ts';
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

export interface ApproveOptions {
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
      return print([...(await latestNotes(NOTES_SHOWN)).map(escapeInvisible), ''].join('\n'));
    case 'on':
    case 'off':
    case 'shadow':
      return setMode(command);
    default:
      throw new TypeError('forecue approve install|uninstall|status|why|on|off|shadow');
  }
}

async function install(names: readonly string[], { project, shadow, waitMs }: ApproveOptions): Promise<void> {
  const known = await readSettings();
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
  const program = await copyProgram(PROGRAM_COPY);
  for (const agent of agents) {
    const file = agent.files[project ? 'project' : 'user'];
    const isAdded = await addHook(agent, file, program);
    print(`${agent.title}: the hook ${isAdded ? 'is' : 'was already'} in ${file}\n`);
  }
  await showStatus();
}

async function uninstall(): Promise<void> {
  const changed = await readChangedFiles();
  for (const agent of AGENTS) {
    const files = [agent.files.user, agent.files.project, ...changed.keys()];
    for (const file of new Set(files)) await removeHook(agent, file, changed.get(file));
  }
  await removeState();
  print('Forecue answers no agent any more. What it decided stays in your account.\n');
}

async function setMode(mode: Mode): Promise<void> {
  const settings = await readSettings();
  if (settings === undefined) throw new TypeError('not installed: forecue approve install');
  await writeSettings({ ...settings, mode });
  await showStatus();
}

const MODES: Record<Mode, string> = {
  on: 'answers where you allowed the like before',
  off: 'answers nothing',
  shadow: 'answers nothing, and notes what it would have answered',
};

async function showStatus(): Promise<void> {
  const settings = await readSettings();
  if (settings === undefined) return print('Not installed.\n');
  const { url, mode, waitMs } = settings;
  print(`Forecue at ${url} ${MODES[mode]} (${mode}), within ${waitMs} ms.\n`);
  const files = new Set([
    ...AGENTS.flatMap((agent) => Object.values(agent.files)),
    ...(await readChangedFiles()).keys(),
  ]);
  for (const agent of AGENTS)
    for (const file of files) {
      const state = await stateOf(agent, file);
      if (state === 'not installed') continue;
      print(`${agent.title}: ${state}, ${file}\n`);
      if (state === 'not trusted yet')
        print('  Start codex in a terminal and trust the hook: until then it does not run.\n');
    }
  const [last] = await latestNotes(1);
  if (last !== undefined) print(`Last: ${escapeInvisible(last)}\n`);
}
