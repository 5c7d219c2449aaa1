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
  const path = /^[~/]/.test(word) ? word : cwd === undefined ? undefined : `${cwd}/${word}`;
  if (path?.startsWith('~')) return { kind: 'outside', path: posix.normalize(path).replace(/\/$/, '') };
  // What a pattern matches may lead out of the folder in which it looks.
  if (path === undefined || /[*?[{].*(?<!\.)\.\.(?!\.)/.test(path)) return { kind: 'unknown', path: word };
  const absolute = posix.normalize(path).replace(/(?<=.)\/$/, '');
  const relative = posix.relative(project, absolute);
  const isInside = project !== '/' && relative !== '..' && !relative.startsWith('../');
  return isInside ? { kind: 'inside', path: relative || '.' } : { kind: 'outside', path: absolute };
}

/** The folder of a place, up to the first pattern of its path. */
export function folderOf({ path }: Place): string {
  return posix.dirname(path.replace(/[^/]*[*?[].*$/, 'x'));
}

/** Disks of Macs and Windows do not tell the case of letters apart. */
const CREDENTIALS =
  /(^|\/)(\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|\.?gcloud|\.config\/(gh|glab-cli|op|hub|rclone|doctl|stripe|sops|google-chrome|chromium|brave[^/]*|microsoft-edge)|\.netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.npmrc|\.pypirc|\.vault-token|\.s3cfg|\.boto|\.terraform\.d|\.m2\/settings[^/]*|\.env(\.[^/]*)?|\.password-store|\.forecue|\.mozilla|\.thunderbird|library\/application support\/(google|firefox|brave[^/]*)|cookies\.(sqlite|binarycookies)|keychains|\.local\/share\/keyrings|\.(bash|zsh|psql|mysql|python|node_repl)_history|\.claude\.json|\.databrickscfg|\.snowflake|\.snowsql|\.dbt|\.kaggle|\.huggingface|\.cache\/huggingface\/token|\.fly|\.ngrok2|\.dockercfg|[^/]*credentials(\.[^/]*)?|auth\.json|secrets?\.(json|toml|ya?ml)|id_(rsa|dsa|ecdsa|ed25519)[^/]*|ssh_host_\w+_key|[^/]*\.(pem|ppk|ovpn|tfstate|p12|pfx|key|keystore|jks|kdbx))(\/|$)|^\/etc\/(shadow|sudoers|passwd)|^\/(proc|sys|dev\/(tcp|udp)|(var\/)?run\/secrets)\//i;
/** What decides on the agents themselves, on git, and on every new shell. */
const CONTROLS =
  /(^|\/)(\.claude(\.json)?|\.codex|\.gemini|\.qwen|\.cursor|\.mcp\.json|\.forecue|\.git|\.(bash|zsh)\w*|\.z?(profile|login|logout)|\.gitconfig|\.inputrc|\.xprofile|\.pam_environment|\.config\/(fish|nushell|git|pip|nix|autostart|systemd|environment\.d)|\.cargo\/(config(\.toml)?|env)|\.pip|library\/launch(agents|daemons))(\/|$)|^(~|\/(home|users)\/[^/]+|\/root)\/(bin|go\/bin|\.local\/bin|\.cargo\/bin|\.(condarc|gemrc|curlrc|wgetrc|vimrc|exrc|psqlrc|sqliterc|gdbinit|lldbinit|tmux\.conf|screenrc|irbrc|Rprofile|yarnrc|yarnrc\.yml|bunfig\.toml)|\.(bundle|gradle|vim|emacs\.d))(\/|$)|^~\/?\.(bash|zsh|profile|config\/fish)|^\/(etc|boot|dev|usr|bin|sbin|lib|system|library|private\/etc)(\/|$)/i;
/** Files that other programs run, or that instruct agents. */
const RUN_LATER =
  /(^|\/)(\.github|\.gitlab-ci\.yml|\.circleci|\.travis\.yml|\.drone\.yml|\.woodpecker|\.buildkite|[^/]*pipelines?\.ya?ml|\.husky|lefthook[^/]*|\.vscode|\.idea|\.zed|\.devcontainer|\.envrc|\.git(attributes|modules)|\.pre-commit-config\.yaml|\.yarnrc(\.yml)?|\.pnpmfile\.c?js|\.cursorrules|\.(clinerules|windsurf|roo|kiro|junie|amazonq|continue|opencode|aider)[^/]*|opencode\.jsonc?|(package(-lock)?|composer|nx|turbo|lerna|vercel)\.json|deno\.jsonc?|bunfig\.toml|netlify\.toml|fly\.toml|\.?mise[^/]*\.toml|\.tool-versions|pnpm-(lock|workspace)\.yaml|(yarn|poetry|uv|pipfile|composer|gemfile)\.lock|bun\.lockb?|(gnu)?makefile|[^/]*\.mk|justfile|taskfile\.ya?ml|rakefile|gemfile|pipfile|procfile(\.[^/]*)?|vagrantfile|podfile|(gulp|grunt)file(\.[^/]*)?|cmakelists\.txt|jenkinsfile|dockerfile(\.[^/]*)?|[^/]*\.dockerfile|(docker-)?compose(\.[^/]*)?\.ya?ml|(flake|shell|default)\.nix|pyproject\.toml|setup\.(py|cfg)|requirements[^/]*\.txt|(site|user)customize\.py|[^/]*\.pth|cargo\.(toml|lock)|build\.rs|build\.sbt|build\.bazel|\.bazelrc|mix\.exs|package\.swift|go\.(mod|sum)|pom\.xml|\.mvn|(build|settings|init)\.gradle(\.kts)?|gradle\.properties|gradlew|mvnw|conftest\.py|tox\.ini|noxfile\.py|[^/]*\.config\.[cm]?[jt]s|\.(eslint|prettier|stylelint|babel|mocha|swc|nyc|lintstaged|commitlint)rc[^/]*|(agents|claude|gemini)(\.[^/]*)?\.md)(\/|$)/i;
/** The whole of a disk, or of a home. */
const WHOLE = /^(\/|~[^/]*|\/(var|opt|srv)|\/(home|root|users)(\/[^/]+)?)$/i;
/** A pattern that may match files whose names begin with a dot. In brackets alone is a name of Next.js, or one letter. */
const HIDDEN_PATTERN = /(^|\/)(?!\[\[?[^\]/]+\]\]?(\/|$))(?=[^/]*[*?[{])[.[{]/;
export const SINKS = /^\/dev\/(null|stdout|stderr|tty)$/;

export function levelOfReading({ kind, path }: Place): Level {
  // A pattern may match what it does not name.
  if (CREDENTIALS.test(path) || HIDDEN_PATTERN.test(path)) return kind === 'inside' ? 'strict' : 'never';
  return kind === 'unknown' ? 'strict' : 'ordinary';
}

export function levelOfWriting({ kind, path }: Place): Level {
  if (CREDENTIALS.test(path) || CONTROLS.test(path) || (kind === 'outside' && WHOLE.test(path)))
    return 'never';
  return kind === 'inside' && !RUN_LATER.test(path) ? 'ordinary' : 'strict';
}

export function levelOfDeleting(place: Place): Level {
  const { kind, path } = place;
  const isUncertain = path === '.' || /[*?[{]/.test(path);
  return kind !== 'inside' || isUncertain || levelOfWriting(place) === 'never' ? 'never' : 'strict';
}
