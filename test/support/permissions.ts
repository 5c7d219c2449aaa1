import { event } from './recording.ts';
import { claudeRecord } from './transcripts.ts';

/** What coding agents write about a permission, after recordings of Claude Code 2.1.332 and Codex 0.171.0. */

const START = Date.parse('2026-05-01T10:00:00Z');
let calls = 0;

/** Returns the records of a call of `Bash` and of its result, `waitMs` later. */
export function claudePermission(session: string, command: string, result: object, waitMs: number): object[] {
  calls += 1;
  const id = `toolu_${calls}`;
  const call = {
    type: 'tool_use',
    id,
    name: 'Bash',
    input: { command, description: 'Approved by the user.' },
  };
  const content = [{ type: 'tool_result', tool_use_id: id, content: 'done' }];
  return [
    claudeRecord(session, 2 * calls - 1, {
      type: 'assistant',
      message: { role: 'assistant', model: 'some-model', content: [call], stop_reason: 'tool_use' },
      timestamp: new Date(START).toISOString(),
    }),
    claudeRecord(session, 2 * calls, {
      type: 'user',
      message: { role: 'user', content },
      timestamp: new Date(START + waitMs).toISOString(),
      ...result,
    }),
  ];
}

export function codexSession(id: string): object {
  const payload = { id, cwd: '/home/ada/engine', source: 'cli' };
  return { timestamp: new Date(START).toISOString(), type: 'session_meta', payload };
}

/** Returns the records of a command that leaves the sandbox: it ran after `waitMs`, or has an output of Codex's own. */
export function codexPermission(
  command: string,
  {
    waitMs,
    output = 'Process exited with code 0',
    escalated = true,
  }: { waitMs?: number; output?: string; escalated?: boolean },
): object[] {
  calls += 1;
  const id = `call_${calls}`;
  const record = (type: string, payload: object) => ({
    timestamp: new Date(START + 1000).toISOString(),
    type,
    payload,
  });
  const escalation = escalated
    ? { sandbox_permissions: 'require_escalated', justification: 'Approved.' }
    : {};
  const run = {
    type: 'item_completed',
    item: { type: 'CommandExecution', id, duration: { secs: 0, nanos: 16_385 } },
    started_at_ms: START,
    completed_at_ms: START + (waitMs ?? 0),
  };
  const call = { type: 'function_call', name: 'exec_command', call_id: id };
  return [
    record('response_item', { ...call, arguments: JSON.stringify({ cmd: command, ...escalation }) }),
    ...(waitMs === undefined ? [] : [record('event_msg', run)]),
    record('response_item', { type: 'function_call_output', call_id: id, output }),
  ];
}

const WHERE = {
  agent: 'claude-code',
  tool: 'Bash',
  action: 'run',
  cwd: '/home/ada/engine',
  project: '/home/ada/engine',
};

export function permissionRequest(target: string, more: object = {}): object {
  return { ...WHERE, target, ...more };
}

/** Returns an event of a decision by hand. */
export function permissionEvent(
  target: string,
  outcome: 'allowed' | 'refused' = 'allowed',
  more: object = {},
): object {
  const { agent: _, prompt: __, ...envelope } = event();
  return { ...envelope, type: 'agent.permission', ...WHERE, target, outcome, ...more };
}
