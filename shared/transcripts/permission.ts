import { PERMISSION_TARGET_MAX } from '../schemas/limits.ts';
import type { PermissionAction } from '../schemas/permissions.ts';
import { type JsonObject, stringOf } from './json.ts';

/** What a call of an agent's tool does, if a person is asked about it. */
export interface AskedPermission {
  tool: string;
  action: PermissionAction;
  target: string;
}

/** Codex allows spaces before a header, and ends a line at `\n` alone. */
const PATCHED_PATH = /(?:^|\n)[\s\u0085]*\*\*\* (Add File|Update File|Delete File|Move to): ([^\n]+)/g;

/**
 * Returns undefined for a tool without effects on the world, or a call too long to compare. Only what the call does
 * counts: a `description` is the agent's own text. Agents name their tools differently.
 */
export function permissionOf(tool: string, input: JsonObject): AskedPermission | undefined {
  const asked = askedOf(tool, input);
  return asked === undefined || asked.target === '' || asked.target.length > PERMISSION_TARGET_MAX
    ? undefined
    : asked;
}

function askedOf(tool: string, input: JsonObject): AskedPermission | undefined {
  const path = stringOf(input['file_path']) ?? stringOf(input['notebook_path']);
  switch (tool) {
    case 'Bash':
    case 'exec_command': {
      const command = stringOf(input['command']) ?? stringOf(input['cmd']) ?? '';
      return { tool, action: 'run', target: command };
    }
    case 'Write':
    case 'Edit':
    case 'MultiEdit':
    case 'NotebookEdit':
      return { tool, action: 'write', target: path ?? '' };
    case 'Read':
      return { tool, action: 'read', target: path ?? '' };
    case 'WebFetch':
      return { tool, action: 'fetch', target: stringOf(input['url']) ?? '' };
    case 'apply_patch': {
      const files = [
        ...(stringOf(input['command']) ?? stringOf(input['input']) ?? '').matchAll(PATCHED_PATH),
      ];
      const isDeletion = files.some(([, verb]) => verb === 'Delete File');
      const target = files.map(([, , file = '']) => file.trim()).join('\n');
      return { tool, action: isDeletion ? 'delete' : 'write', target };
    }
    default:
      return tool.startsWith('mcp__') ? { tool, action: 'call', target: canonical(input) } : undefined;
  }
}

/** JSON with the properties in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
