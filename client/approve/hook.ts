import { readdir } from 'node:fs/promises';
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
 * Answers an agent that asks for permission: `allow`, or nothing, and then it goes on as if we were not there. Never
 * throws, and never prints before it is sure: agents read the output even of a hook that fails.
 */
export async function answerAgent(agent: AgentName): Promise<void> {
  const settings = await readSettings();
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
    const { isAllowed, why } = await judge(agent, event, input, settings);
    clearTimeout(timer);
    await note(`${agent} ${why}`).catch(() => undefined);
    if (isAllowed) process.stdout.write(JSON.stringify({ hookSpecificOutput: allowance(event) }));
  } catch (error) {
    clearTimeout(timer);
    await end(agent, reasonOf(error));
  }
}

function allowance(event: string): object {
  return event === 'PreToolUse'
    ? { hookEventName: event, permissionDecision: 'allow' }
    : { hookEventName: event, decision: { behavior: 'allow' } };
}

async function end(agent: AgentName, why: string): Promise<void> {
  await note(`${agent} silent: ${why}`).catch(() => undefined);
  process.exit(0);
}

/** Names no text of what was asked for. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError || error instanceof TypeError) return 'the request is malformed';
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ECONNREFUSED' ? 'Forecue is not reached' : (code ?? message);
}

interface Judgement {
  isAllowed: boolean;
  why: string;
}

async function judge(
  agent: AgentName,
  event: string,
  input: JsonObject,
  settings: Settings,
): Promise<Judgement> {
  const silent = (why: string): Judgement => ({ isAllowed: false, why: `silent: ${why}` });
  const { tool_name, tool_input, cwd, permission_mode: mode } = input;
  const tool = stringOf(tool_name) ?? '';
  const asked = permissionOf(tool, objectOf(tool_input));
  if (!['PermissionRequest', 'PreToolUse'].includes(event) || typeof cwd !== 'string')
    return silent('the request is malformed');
  if (isHeadless() || !ATTENDED_MODES.includes(String(mode))) return silent('nobody is asked in this mode');
  if (asked === undefined) return silent('this tool, or so long a request, is not compared');
  if (containsSecret(asked.target)) return silent('there is a secret in it');
  if (await hasAskRule(agent, event, tool, input)) return silent('a rule of yours asks');
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
  const { id, decision, allowed, refused, required } = await ask(settings, body, waited);
  const support = `${allowed} allowed and ${refused} refused, ${required === null ? 'never automatic' : `${required} needed`} (${id})`;
  if (decision !== 'allow') return silent(support);
  return { isAllowed: !shadow, why: `${shadow ? 'would have allowed' : 'allowed'}: ${support}` };
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
async function hasAskRule(
  agent: AgentName,
  event: string,
  tool: string,
  input: JsonObject,
): Promise<boolean> {
  if (agent === 'codex') return hasPromptRule(String(objectOf(input['tool_input'])['command']));
  if (event === 'PermissionRequest') return input['permission_suggestions'] === undefined;
  const project = process.env['CLAUDE_PROJECT_DIR'] ?? String(input['cwd']);
  const files = [
    join(CLAUDE_HOME, 'settings.json'),
    ...['settings.json', 'settings.local.json'].map((name) => join(project, '.claude', name)),
    '/etc/claude-code/managed-settings.json',
  ];
  const texts = await Promise.all(files.map(textOf));
  return texts.filter(Boolean).some((settings) => {
    const { ask: rules } = objectOf(parseObject(settings)['permissions']);
    return Array.isArray(rules) && rules.some((rule) => String(rule).split('(')[0] === tool);
  });
}

/** Counts a rule for every command that has its first word. */
async function hasPromptRule(command: string): Promise<boolean> {
  const folder = join(CODEX_HOME, 'rules');
  const names = await readdir(folder).catch(() => []);
  const texts = await Promise.all(names.map((name) => textOf(join(folder, name))));
  const rules = texts
    .join('\n')
    .split('prefix_rule')
    .filter((rule) => /decision\s*=\s*"prompt"/.test(rule));
  return rules.some((rule) => command.includes(/pattern\s*=\s*\[[\s[]*"([^"]*)"/.exec(rule)?.[1] ?? ''));
}
