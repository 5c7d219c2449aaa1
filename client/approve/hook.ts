import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { containsSecret } from '../../shared/text/secrets.ts';
import { type JsonObject, objectOf, parseObject, stringOf } from '../../shared/transcripts/json.ts';
import { permissionOf } from '../../shared/transcripts/permission.ts';
import { type AgentName, CLAUDE_HOME, CODEX_HOME } from './agents.ts';
import { ask } from './ask.ts';
import { note, readSettings, type Settings, textOf } from './state.ts';

/** Modes in which a person is asked, or Claude Code's own check decides. */
const ATTENDED_MODES = ['default', 'acceptEdits', 'auto'];

/**
 * Answers an agent that asks for permission: `allow`, `deny` if the person has that on, or nothing, and then it goes on
 * as if we were not there. Never throws, and never prints before it is sure: agents read the output even of a hook that
 * fails.
 */
export async function answerAgent(agent: AgentName): Promise<void> {
  const settings = readSettings();
  if (settings === undefined || settings.mode === 'off') return;
  const timer = setTimeout(
    () => end(agent, 'no answer in time'),
    Math.max(1, settings.waitMs - performance.now()),
  );
  try {
    const input = parseObject(await text(process.stdin));
    const event = stringOf(input['hook_event_name']) ?? '';
    // Other modes have their own event.
    if (event === 'PreToolUse' && input['permission_mode'] !== 'auto') return clearTimeout(timer);
    const { says, why } = await judge(agent, event, input, settings);
    clearTimeout(timer);
    note(`${agent} ${why}`);
    if (says !== null) process.stdout.write(JSON.stringify({ hookSpecificOutput: outputOf(event, says) }));
  } catch (error) {
    clearTimeout(timer);
    end(agent, reasonOf(error));
  }
}

/** The agent's model reads it. */
const REFUSED = 'This person has refused this each time before. Ask them, or do it another way.';

function outputOf(event: string, says: 'allow' | 'deny'): object {
  if (event === 'PreToolUse') {
    const reason = says === 'deny' ? { permissionDecisionReason: REFUSED } : {};
    return { hookEventName: event, permissionDecision: says, ...reason };
  }
  const message = says === 'deny' ? { message: REFUSED } : {};
  return { hookEventName: event, decision: { behavior: says, ...message } };
}

function end(agent: AgentName, why: string): void {
  note(`${agent} silent: ${why}`);
  process.exit(0);
}

/** Names no text of what was asked for. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError || error instanceof TypeError) return 'the request is malformed';
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' ? 'Forecue is not reached' : (code ?? message);
}

interface Judgement {
  says: 'allow' | 'deny' | null;
  why: string;
}

async function judge(
  agent: AgentName,
  event: string,
  input: JsonObject,
  settings: Settings,
): Promise<Judgement> {
  const silent = (why: string): Judgement => ({ says: null, why: `silent: ${why}` });
  const { tool_name, tool_input, cwd, permission_mode: mode } = input;
  const tool = stringOf(tool_name) ?? '';
  const asked = permissionOf(tool, objectOf(tool_input));
  if (!['PermissionRequest', 'PreToolUse'].includes(event) || typeof cwd !== 'string')
    return silent('the request is malformed');
  if (isHeadless() || !ATTENDED_MODES.includes(String(mode))) return silent('nobody is asked in this mode');
  if (asked === undefined) return silent('this tool, or so long a request, is not compared');
  if (containsSecret(asked.target)) return silent('there is a secret in it');
  if (hasAskRule(agent, event, tool, input)) return silent('a rule of yours asks');
  const project = (agent === 'claude-code' ? process.env['CLAUDE_PROJECT_DIR'] : undefined) ?? cwd;
  const session = stringOf(input['session_id']);
  const shadow = settings.mode === 'shadow';
  const body = {
    agent,
    ...asked,
    cwd,
    project,
    mode,
    shadow,
    ...(session && { session_id: `${agent}:${session}` }),
  };
  const waited = AbortSignal.timeout(settings.waitMs);
  const { id, decision, reason, allowed, refused, required } = await ask(settings, body, waited);
  const support = `${allowed} allowed and ${refused} refused, ${required === null ? 'never automatic' : `${required} needed`} (${id})`;
  const said = { check: 'asked to check; ', off: 'switched off for the account; ' }[reason] ?? '';
  if (decision === 'ask') return silent(said + support);
  const done = decision === 'allow' ? 'allowed' : 'denied';
  return { says: shadow ? null : decision, why: `${shadow ? 'would have ' : ''}${done}: ${support}` };
}

/** `claude -p`, the SDKs and actions: nobody is there, whose place an answer could take. */
function isHeadless(): boolean {
  const { CLAUDE_CODE_ENTRYPOINT: entrypoint = '', CLAUDE_CODE_SESSION_ATTENDED: attended = '' } =
    process.env;
  return /^(sdk-|mcp)|github-action/.test(entrypoint) || /^(0|false)$/i.test(attended);
}

/**
 * Reports whether the person has a rule that asks about this tool. Claude Code then suggests no rules; before its own
 * check in auto mode, and in Codex, only the files of rules say so.
 */
function hasAskRule(agent: AgentName, event: string, tool: string, input: JsonObject): boolean {
  if (agent === 'codex') return hasPromptRule(input);
  if (event === 'PermissionRequest') return input['permission_suggestions'] === undefined;
  const project = process.env['CLAUDE_PROJECT_DIR'] ?? String(input['cwd']);
  const files = [
    join(CLAUDE_HOME, 'settings.json'),
    ...['settings.json', 'settings.local.json'].map((name) => join(project, '.claude', name)),
    '/etc/claude-code/managed-settings.json',
    '/Library/Application Support/ClaudeCode/managed-settings.json',
  ];
  const texts = files.map(textOf);
  return texts.filter(Boolean).some((settings) => {
    const { ask: rules } = objectOf(parseObject(settings)['permissions']);
    return Array.isArray(rules) && rules.some((rule) => isAbout(String(rule), tool));
  });
}

const EDITORS = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** A rule for edits is about all tools that edit, and one for a server about each of its tools. */
function isAbout(rule: string, tool: string): boolean {
  const [name = ''] = rule.split(/[(*]/);
  return (
    name === tool ||
    (EDITORS.includes(name) && EDITORS.includes(tool)) ||
    tool.startsWith(`${name.replace(/_+$/, '')}__`)
  );
}

/** Counts a rule for every command that has one of its first words. */
function hasPromptRule({ tool_input, cwd }: JsonObject): boolean {
  const command = String(objectOf(tool_input)['command']);
  const folders = [CODEX_HOME, join(String(cwd), '.codex'), '/etc/codex'].map((home) => join(home, 'rules'));
  const texts = folders.flatMap((folder) => namesIn(folder).map((name) => textOf(join(folder, name))));
  const rules = texts
    .join('\n')
    .split('prefix_rule')
    .filter((rule) => /decision\s*=\s*["']prompt["']/.test(rule));
  return rules.some((rule) => {
    const [, first = ''] = /pattern\s*=\s*\[\s*(\[[^\]]*\]|"[^"]*"|'[^']*')/.exec(rule) ?? [];
    const words = first.match(/[^[\]"',\s]+/g) ?? [''];
    return words.some((word) => command.includes(word));
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
