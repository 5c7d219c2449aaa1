import { posix } from 'node:path';
import type { Level } from './permission.ts';

/** Where a command runs. `cwd` is undefined where it is uncertain, as after a `cd` that may have failed. */
export interface Where {
  project: string;
  cwd: string | undefined;
}

/** `inside` the project, with a path relative to it; `outside`, absolute or from `~`; `unknown`, as written. */
export interface Place {
  kind: 'inside' | 'outside' | 'unknown';
  path: string;
}

/** Links are not followed: the file system is the person's, not the server's. */
export function placeOf(word: string, { project, cwd }: Where): Place {
  if (word.startsWith('~')) return { kind: 'outside', path: posix.normalize(word) };
  const path = word.startsWith('/') ? word : cwd === undefined ? undefined : `${cwd}/${word}`;
  // What a pattern matches may lead out of the folder in which it looks.
  if (path === undefined || /[*?[{].*\.\./.test(path)) return { kind: 'unknown', path: word };
  const absolute = posix.normalize(path).replace(/(?<=.)\/$/, '');
  const relative = posix.relative(project, absolute);
  const isInside = project !== '/' && relative !== '..' && !relative.startsWith('../');
  return isInside ? { kind: 'inside', path: relative || '.' } : { kind: 'outside', path: absolute };
}

/** The folder of a place, up to the first pattern of its path. */
export function folderOf({ path }: Place): string {
  return posix.dirname(path.replace(/[^/]*[*?[].*$/, 'x'));
}

const CREDENTIALS =
  /(^|\/)(\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|gcloud|\.netrc|\.pgpass|\.git-credentials|\.npmrc|\.pypirc|\.env(\.[^/]*)?|\.password-store|[kK]eychains|id_(rsa|dsa|ecdsa|ed25519)[^/]*|[^/]*\.(pem|p12|pfx|key|keystore|kdbx))(\/|$)|^\/etc\/(shadow|sudoers|passwd)|^\/(proc|sys)\//;
/** What decides on the agents themselves, on git, and on every new shell. */
const CONTROLS =
  /(^|\/)(\.claude|\.codex|\.gemini|\.qwen|\.forecue|\.git)(\/|$)|^~\/?\.(bash|zsh|profile|config\/fish)|\/\.(bashrc|bash_profile|profile|zshrc|zshenv|gitconfig)$|^\/(etc|boot|dev|usr|bin|sbin|lib)(\/|$)/;
/** Files that other programs run, or that instruct agents. */
const RUN_LATER =
  /(^|\/)(\.github|\.gitlab-ci\.yml|\.circleci|\.husky|\.vscode|\.idea|\.envrc|package\.json|Makefile|AGENTS\.md|CLAUDE\.md|GEMINI\.md)(\/|$)/;

export function levelOfReading({ kind, path }: Place): Level {
  if (kind === 'unknown') return 'strict';
  // A pattern may match what it does not name.
  if (CREDENTIALS.test(path)) return kind === 'inside' ? 'strict' : 'never';
  return kind === 'outside' && /\/\.[*?[]|[*?[]\.|\.[*?[]/.test(path) ? 'strict' : 'ordinary';
}

export function levelOfWriting({ kind, path }: Place): Level {
  if (CREDENTIALS.test(path) || CONTROLS.test(path)) return 'never';
  return kind === 'inside' && !RUN_LATER.test(path) ? 'ordinary' : 'strict';
}

export function levelOfDeleting(place: Place): Level {
  const { kind, path } = place;
  const isWhole = path === '.' || /^[.*?[\]{}]+$/.test(path);
  return kind !== 'inside' || isWhole || levelOfWriting(place) === 'never' ? 'never' : 'strict';
}
