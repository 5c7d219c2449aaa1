import type { PermissionAction } from '../../schemas/permissions.ts';

/** What an agent asks a person to allow. `target` is the command, the paths (one a line), the address or the input. */
export interface Permission {
  /** The agent's name of the tool. Only calls of unknown tools are told apart by it. */
  tool: string;
  action: PermissionAction;
  target: string;
  cwd: string;
  /** The folder in which the session began. */
  project: string;
}

/** `ordinary`: two approvals of the like are enough. `strict`: five of the same. `never`: always the person. */
export type Level = 'ordinary' | 'strict' | 'never';

/** A part of what is asked for: a command of a pipeline, a redirection, a file. */
export interface Part {
  level: Level;
  /** Equal for parts that mean the same. */
  meaning: string;
  /** Equal for parts that say the same. */
  exact: string;
}

/** As dangerous as its most dangerous part. */
export interface Shape {
  level: Level;
  parts: readonly Part[];
  exact: string;
}

const LEVELS: readonly Level[] = ['ordinary', 'strict', 'never'];

export function highest(levels: readonly Level[]): Level {
  return LEVELS[Math.max(0, ...levels.map((level) => LEVELS.indexOf(level)))] ?? 'never';
}

/** `words` say what is done, without what changes nothing about it. Look-alike letters are never like anything. */
export function partOf(level: Level, words: readonly string[], exact: readonly string[] = words): Part {
  const isForeign = words.some((word) => /[^\n\t -~]/.test(word));
  return {
    level: isForeign ? 'never' : level,
    meaning: JSON.stringify(words),
    exact: JSON.stringify(exact),
  };
}
