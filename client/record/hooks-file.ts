import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type JsonObject, objectOf, objectsOf, parseObject } from '../../shared/transcripts/json.ts';

/** Settings of an agent, with `hooks` by event: Claude Code's, and Codex's `hooks.json`. */

/** Quotes a path for the shell that runs hooks: within single quotes, no character of a folder's name is special. */
export function quote(path: string): string {
  return process.platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`;
}

export function withHooks(settings: JsonObject, events: readonly string[], hook: JsonObject): JsonObject {
  const hooks = objectOf(settings['hooks']);
  const addedHooks = events.map((event) => [event, [...objectsOf(hooks[event]), { hooks: [hook] }]]);
  return { ...settings, hooks: { ...hooks, ...Object.fromEntries(addedHooks) } };
}

/** Removes the hooks of these events that run `command`, and the keys that this leaves empty. */
export function withoutHooks(
  { hooks, ...settings }: JsonObject,
  events: readonly string[],
  command: RegExp,
): JsonObject {
  if (hooks === undefined) return settings;
  const left = Object.entries(objectOf(hooks)).flatMap(([event, groups]) => {
    if (!Array.isArray(groups) || !events.includes(event)) return [[event, groups]];
    const others = groups.filter((group) => !runs(group, command));
    return others.length === 0 ? [] : [[event, others]];
  });
  return left.length === 0 ? settings : { ...settings, hooks: Object.fromEntries(left) };
}

export function runs(group: unknown, command: RegExp): boolean {
  return objectsOf(objectOf(group)['hooks']).some((hook) => command.test(String(hook['command'])));
}

/** Throws a `TypeError` if the file is not a JSON object: rewriting it would lose what the person wrote. */
export async function readHooksFile(path: string): Promise<JsonObject> {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  try {
    return parseObject(text.trim() || '{}');
  } catch {
    throw new TypeError(`${path} is not a JSON object: nothing was changed`);
  }
}

export function textOfHooks(settings: JsonObject): string {
  return `${JSON.stringify(settings, null, 2)}\n`;
}

export async function writeHooksFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
