/** What the rule knows of programs. What is not here needs five approvals of the very same words. */

const words = (list: string) => new Set(list.split(' '));

/** Commands that only read, with the options that make them write, delete or run something. */
export const READERS: Readonly<Record<string, RegExp | undefined>> = {
  ...Object.fromEntries(
    [
      ...words(
        'ls cat head tail wc grep egrep fgrep cut tr nl tac echo printf pwd which stat du df diff cmp jq whoami uname basename dirname realpath readlink true false test [ sleep column rev sha256sum md5sum',
      ),
    ].map((name) => [name, undefined]),
  ),
  find: /^-(exec|ok|delete|fprint|fls)/,
  rg: /^--(pre|hostname-bin|search-zip)|^-[a-zA-Z]*z/,
  sort: /^-[a-zA-Z]*[oT]|^--(o|c|t|files)/,
  tree: /^-[a-zA-Z]*o|^--fromfile/,
  date: /^-[a-zA-Z]*s|^--s|^\d/,
  file: /^-[a-zA-Z]*[Cm]|^--(compile|magic)/,
};

/** Checks, builds and tests of the project itself. */
export const RUNNERS = words(
  'pytest jest vitest mocha ava tap tsc eslint prettier biome oxlint ruff mypy pyright black isort flake8 pylint phpunit rspec rubocop golangci-lint shellcheck stylelint knip',
);

/** First words of programs, by what they then do. */
export const SUBCOMMANDS: Readonly<Record<string, Readonly<Record<string, 'read' | 'run' | 'script'>>>> = {
  ...Object.fromEntries(
    ['npm', 'pnpm', 'yarn', 'bun'].map((name) => [
      name,
      {
        test: 'run',
        t: 'run',
        lint: 'run',
        build: 'run',
        typecheck: 'run',
        run: 'script',
        'run-script': 'script',
        ls: 'read',
        list: 'read',
        outdated: 'read',
        why: 'read',
      } as const,
    ]),
  ),
  cargo: { test: 'run', build: 'run', check: 'run', clippy: 'run', fmt: 'run', doc: 'run', tree: 'read' },
  go: { test: 'run', build: 'run', vet: 'run', fmt: 'run', list: 'read', version: 'read' },
  dotnet: { test: 'run', build: 'run' },
  mvn: { test: 'run', compile: 'run', verify: 'run' },
  './gradlew': { test: 'run', build: 'run', check: 'run' },
  make: { test: 'run', check: 'run', lint: 'run', build: 'run', all: 'run' },
  node: { '--test': 'run', '--version': 'read' },
  git: {
    status: 'read',
    diff: 'read',
    log: 'read',
    show: 'read',
    blame: 'read',
    'rev-parse': 'read',
    'ls-files': 'read',
    describe: 'read',
    shortlog: 'read',
  },
};

/** Options with which git's reading commands write a file, run a program, or read outside the repository. */
export const GIT_READS_UNLESS = /^(--ou|--ext|--textconv|--no-index|--open|-O|--exec)/;

/** Options that change only how much is tested or printed; those of `VALUED` take the next word. */
const IRRELEVANT =
  /^(--?(watch(all)?|verbose|silent|quiet|coverage|cov|bail|run|ci|color|no-color|colors|progress|no-progress|if-present|passWithNoTests|runInBand|race|short|count|failfast|maxfail|only|last-failed|lf|ff|sv?|tb|noEmit|pretty|parallel|workspaces?|all|all-targets|all-features|release|locked|offline|nocapture|test-threads|max-warnings|timeout|retries|shard)|-[vqxswti]+|-j\d*|-n\d*)(=[\w,.:-]*)?$/i;
const VALUED = /^(-t|-k|-g|-m|--grep|--testNamePattern|--filter|--run|-run|--reporter|--workspace|-j|-n|-F)$/;
/** Options that change what is done, but nothing outside the project. */
const NOTED = /^(--fix|--write|--update|-u|--check|--list|--format|--build|-b|--diff|-l)$/;

/**
 * Returns the words that say what a runner does; undefined if one may change it in an unknown way, or has a place
 * outside the project.
 */
export function relevantWords(
  args: readonly string[],
  isInside: (word: string) => boolean,
): string[] | undefined {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (word === '--' || IRRELEVANT.test(word)) continue;
    if (VALUED.test(word) && /^[\w ,.:@-]*$/.test(args[at + 1] ?? '')) at += 1;
    else if (NOTED.test(word)) kept.push(word);
    else if (word.startsWith('-') || !isInside(word)) return undefined;
  }
  return kept;
}

/** Programs that act as another user, on credentials, on disks or on the machine; and those that run a text. */
export const NEVER = words(
  'sudo doas su pkexec runas passwd chpasswd visudo useradd usermod userdel groupadd adduser deluser ssh-keygen ssh-add ssh-copy-id gpg gpg2 pass security secret-tool keyctl mkfs dd fdisk parted wipefs mount umount shutdown reboot halt poweroff init telinit crontab at launchctl iptables nft ufw setcap eval shred srm dropdb dropuser',
);
/** Words of any program, or of a tool's name, with which it pays, or changes access or credentials. */
export const NEVER_WORDS = words(
  'login logout adduser addmember auth token tokens credential credentials credential.helper secret secrets iam passwd password owner unpublish destroy terminate pay payment payments payout charge refund purchase checkout-session transfer',
);
export const NEVER_TEXT =
  /\b(drop|truncate)\s+(table|database|schema|user|role)\b|\bdelete\s+from\b|\bgrant\s+\w+.*\bto\b/i;

export const SHELLS = words('sh bash zsh dash ksh fish');
/** Programs that run what they read, if they are given no file. */
export const INTERPRETERS = words(
  'python python2 python3 node deno bun perl ruby php lua osascript psql mysql',
);
/** Variables that change how much is said, not what is run. */
export const HARMLESS_VARIABLES =
  /^(NODE_ENV|CI|DEBUG|NO_COLOR|FORCE_COLOR|TZ|LANG|LC_\w+|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED)$/;

export const TEXT_PROGRAMS = ['echo', 'printf', 'true', 'false', 'test', '[', 'sleep'];
export const SEARCHES = ['grep', 'egrep', 'fgrep', 'rg', 'find', 'tree'];
export const DELETERS = ['rm', 'rmdir', 'unlink'];
/** Programs that write the files they name, with the options that change nothing about it. */
export const WRITERS: Readonly<Record<string, RegExp>> = {
  mkdir: /^-[pv]+$/,
  touch: /^-c$/,
  cp: /^-[rRpafvun]+$/,
  tee: /^-a$/,
};
export const MOVERS = ['mv', 'ln', 'chmod', 'chown', 'chgrp', 'install', 'rsync', 'truncate'];
/** Programs that run the rest of their words. */
export const WRAPPERS: Readonly<Record<string, RegExp | undefined>> = {
  nohup: undefined,
  command: undefined,
  env: undefined,
  nice: undefined,
  timeout: /^\d+[smh]?$/,
  xargs: /^-/,
};

/** Force pushes, and pushes that delete a branch. */
export const REWRITES = /^(-[a-zA-Z]*[fd][a-zA-Z]*|--(force|mirror|delete|prune).*|[+:].+)$/;
export const CURL_READS =
  /^(-[sSfLvIi]+|--(silent|show-error|fail|location|head|include|compressed|verbose))$/;
export const isGlobal = (text: string) => /^(--global|--system|credential\.|user\.)/.test(text);
