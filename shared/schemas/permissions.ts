import { oneOf, text } from './build.ts';
import { Name } from './common.ts';
import { FOLDER_MAX, PERMISSION_TARGET_MAX } from './limits.ts';

const PERMISSION_ACTIONS = ['run', 'write', 'delete', 'read', 'fetch', 'call'] as const;
export type PermissionAction = (typeof PERMISSION_ACTIONS)[number];

/** What an agent asks a person to allow. */
export const PERMISSION = {
  agent: Name,
  /** The agent's name of the tool. */
  tool: Name,
  action: oneOf(PERMISSION_ACTIONS),
  /** The command that would run, the paths (one a line), the address, or the tool's input as JSON. */
  target: text(PERMISSION_TARGET_MAX, 1),
  /** The working folder. */
  cwd: text(FOLDER_MAX, 1),
  /** The folder in which the session began. */
  project: text(FOLDER_MAX, 1),
};
