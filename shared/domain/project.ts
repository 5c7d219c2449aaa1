import { NAME_MAX } from '../schemas/limits.ts';
import { normalForm } from '../text/words.ts';

/** Matches a folder's path, or an address from which a repository is cloned; other text says where nothing is. */
const PLACE =
  /^(?:\/|~\/|[a-z]:[\\/]|\\\\|(?:file|git|ssh):\/\/|[\w.-]+@[\w.-]+:|https?:\/\/(?:(?:github|gitlab|bitbucket|codeberg)\.|\S+\.git\/?$))/i;

/** Matches paths of no project: a home folder, a folder for temporary files, a root. */
const NO_PROJECT =
  /^(?:~|[a-z]:)?(?:\/(?:root|tmp|private\/tmp|(?:mnt\/\w\/)?(?:home|users)(?:\/[^/]*)?))?$/i;

/** Matches the part of a path that leads from a repository to a further working tree of it. */
const WORKING_TREE = /\/\.(?:claude|git|worktrees)(?:\/.*)?$/;

/**
 * Returns the project that a folder's path, the address of a repository or a name stands for: the last name in it, in
 * lower case. A repository has other paths on other machines, and its folder mostly has its name. Returns null for a
 * home folder and the like.
 */
export function projectOf(place: string): string | null {
  const path = place.trim().replaceAll('\\', '/').replace(WORKING_TREE, '').replace(/\/+$/, '');
  if (path === '' || NO_PROJECT.test(path)) return null;
  const name =
    path
      .split(/[/:]/)
      .at(-1)
      ?.replace(/\.git$/i, '') ?? '';
  const visible = normalForm(name, 'NFC')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toLowerCase();
  return [...visible.toWellFormed()].slice(0, NAME_MAX).join('') || null;
}

/** Returns the filter of a `ContextQuery` for a request about a project; none for undefined. */
export function inProject(project: string | undefined): { projects?: readonly string[] } {
  return project === undefined ? {} : { projects: [project] };
}

const NAMES_MAX = 50;
const NAME = /[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}._-]*[\p{L}\p{M}\p{N}])?/gu;

/** As `inProject`; a question about a project also asks for those that it names. */
export function projectsAskedFor(
  project: string | undefined,
  question = '',
): { projects?: readonly string[] } {
  if (project === undefined) return {};
  const names = Array.from(question.matchAll(NAME), ([name]) => normalForm(name, 'NFC').toLowerCase());
  return { projects: [...new Set([project, ...names.slice(-NAMES_MAX)])] };
}

/** As `projectOf`, but returns null for a text that is no place, such as the title of a chat. */
export function projectAt(detail: string | null | undefined): string | null {
  return detail && PLACE.test(detail) ? projectOf(detail) : null;
}
