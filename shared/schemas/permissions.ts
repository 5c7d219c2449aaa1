import Type, { type Static } from 'typebox';
import { closedObject, nullable, oneOf, text, withDefault } from './build.ts';
import { Count, Id, Name, Share } from './common.ts';
import { FOLDER_MAX, PERMISSION_TARGET_MAX } from './limits.ts';

export const PERMISSION_ACTIONS = ['run', 'write', 'delete', 'read', 'fetch', 'call'] as const;
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

export const PermissionRequest = closedObject({
  ...PERMISSION,
  session_id: Type.Optional(Name),
  /** The agent's mode. In `auto` the agent decides by itself where we are silent: then all needs the strict rule. */
  mode: withDefault(Name, 'default'),
  /** The answer is not acted on. */
  shadow: withDefault(Type.Boolean(), false),
});
export type PermissionRequest = Static<typeof PermissionRequest>;

export const PermissionAnswer = closedObject({
  /** Id of the decision, which is kept for 35 days. */
  id: Id,
  /** `ask`: the agent asks the person, as if nobody had answered. `deny`: only if the account has `deny` on. */
  decision: oneOf(['allow', 'ask', 'deny']),
  /**
   * `supported`: allowed, or denied. `check`: would be, but the person is asked to check it. `off`: the account decides
   * nothing.
   */
  reason: oneOf(['supported', 'unsupported', 'never', 'check', 'off']),
  confidence: Share,
  /** The person's decisions about the like. */
  allowed: Count,
  refused: Count,
  /** Approvals that are needed; null if this never becomes automatic. */
  required: nullable(Count),
});
export type PermissionAnswer = Static<typeof PermissionAnswer>;
