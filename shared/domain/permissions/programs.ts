/** What the rule knows of programs. What is not here needs five approvals of the very same words. */

const words = (list: string) => new Set(list.split(' '));

/** Commands that only read, with the options that make them write, delete or run something. */
export const READERS: Readonly<Record<string, RegExp | undefined>> = {
  ...Object.fromEntries(
    [
      ...words(
        'ls cat head tail wc grep egrep fgrep cut tr nl tac pwd which type stat du df diff cmp whoami id uptime free lsof uname basename dirname realpath readlink column rev sha256sum md5sum',
      ),
    ].map((name) => [name, undefined]),
  ),
  find: /^-(exec|ok|delete|fprint|fls)/,
  rg: /^--(pre|hostname-bin|search-zip)|^-[a-zA-Z]*z/,
  sort: /^-[a-zA-Z]*[oT]|^--(o|c|t|files)/,
  tree: /^-[a-zA-Z]*[oR]|^--fromfile/,
  // Environments of processes.
  ps: /^[a-zA-Z]*e|^-[a-zA-Z]*E/,
  date: /^-[a-zA-Z]*[sf]|^--[sf]|^\d/,
  file: /^-[a-zA-Z]*[Cmf]|^--(compile|magic|files)/,
  // Its program may read the environment.
  jq: /^-[a-zA-Z]*f|^--from|(^|[^\w."-])env\b|\$ENV|\b(import|include)\b/,
};

/** Checks, builds and tests of the project itself. */
export const RUNNERS = words(
  'pytest jest vitest mocha ava tap tsc eslint prettier oxlint mypy pyright black isort flake8 pylint unittest py_compile phpunit rspec rubocop shellcheck stylelint knip',
);
/** What runs a program of the project without fetching one. */
export const RUN_THROUGH =
  /^(uv run|poetry run|pipenv run|pdm run|hatch run|bundle exec|pnpm exec|yarn exec|npx --no(-install)?) /;
/** Folders of programs that the project has installed. */
export const INSTALLED = /^(\.\/)?(node_modules\/\.bin|\.?venv\/bin|vendor\/bin)\/(?=[\w.-]+$)/;
/** What fetches a program that the project lacks, and runs it. */
export const FETCHES_AND_RUNS = ['npx', 'bunx', 'uvx'];

export const HARMLESS_GIT = /^(--no-pager|-P|--no-optional-locks)$/;
/** Options before a subcommand that change nothing about it. */
export const QUIET = /^(-j\d*|-[skqB]|--silent|--quiet)$/;
/** Says for which package of the project a subcommand is. */
export const WORKSPACE = /^(pnpm (--filter|-F)|npm (--workspace|-w)) @?\w[\w/-]*$/;
/** Names of scripts that test or build, and touch nothing that others share. */
export const SAFE_SCRIPT =
  /^(tests?|lint|build|check|typecheck|types?|format|fmt|compile|unit|e2e|spec|coverage|docs|bench|dev|watch)([:._-](?!prod|live|stag|db|migrat|seed|reset|clean|push|upload|deploy|publish|release)\w+)*$/i;
/** Options with which git's reading commands write a file, run a program, or read outside the repository. */
export const GIT_READS_UNLESS = /^(--ou|--ext|--textconv|--no-index|--op|-[a-zA-Z]*O|--exec)/;

/** Options that change only how much is tested or printed; those of `VALUED` take the next word. */
const IRRELEVANT =
  /^(--?(watch(All)?|verbose|silent|quiet|coverage|cov|bail|run|ci|color|no-color|colors|progress|no-progress|if-present|passWithNoTests|runInBand|race|short|count|failfast|maxfail|only|last-failed|lf|ff|sv?|tb|pretty|parallel|workspaces?|all|all-targets|all-features|release|locked|offline|nocapture|test-threads|max-warnings|timeout|retries|shard|lib|bins|tests|doc|no-fail-fast|no-build|no-restore|no-daemon|fail-fast|info|stacktrace|Dtest)|-[vqxsti]+|-j\d*|-n\d*)(=[\w,.:#*-]*)?$/;
const VALUED =
  /^(-t|--tests|-k|-g|-m|--grep|--testNamePattern|--filter|--run|-run|--reporter|--workspace|-j|-n|-F)$/;
/** Options of one program that change only this. What follows is a word like any other. */
const OWN: Readonly<Record<string, RegExp>> = {
  cargo: /^(-p|--package)$/,
  tsc: /^(-p|--project)$/,
  go: /^-(bench|benchmem|benchtime|cover|tags)(=[\w.,]+)?$/,
  jest: /^--testPathPatterns?(=[\w.-]+)?$/,
  playwright: /^--(project|grep|workers|headed)(=[\w.-]+)?$/,
  pytest: /^(-r[a-zA-Z]+|--(durations|no-header|no-cov|collect-only|strict-markers)(=\d+)?)$/,
  mypy: /^--(strict|ignore-missing-imports|show-error-codes)$/,
  eslint: /^--(ext|cache)$/,
  ruff: /^--(select|ignore|statistics)(=[\w,]+)?$/,
  dotnet: /^(--filter|--configuration|-c|--nologo)$/,
};
const VALUE = /^([\w ,.:@][\w ,.:@-]*)?$/;
/** Options that change what is done, but nothing outside the project. */
const NOTED = /^(-a|--fix|--write|--update|-u|--check|--list|--format|--build|-b|--diff|-l|-w|--noEmit)$/;

/**
 * Returns the words that say what a runner does; undefined if one may change it in an unknown way, or has a place
 * outside the project. `areTargets`: each word is something more to do.
 */
export function relevantWords(
  name: readonly string[],
  args: readonly string[],
  isInside: (word: string) => boolean,
  areTargets: boolean,
): string[] | undefined {
  const kept: string[] = [];
  const own = name.map((word) => (Object.hasOwn(OWN, word) ? OWN[word] : undefined)).find(Boolean);
  const valued = areTargets ? /^--tests$/ : VALUED;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (valued.test(word) && VALUE.test(args[at + 1] ?? '')) at += 1;
    else if (word === '--' || IRRELEVANT.test(word) || own?.test(word)) continue;
    else if (NOTED.test(word)) kept.push(word);
    else if (word.startsWith('-') || !isInside(word) || (areTargets && !/^[\w-]+$/.test(word)))
      return undefined;
    else if (areTargets) kept.push(word);
  }
  return kept;
}

/** Programs that act as another user, on credentials, on disks or on the machine, or on what later words mean. */
export const NEVER = words(
  'sudo sudoedit doas su pkexec run0 runuser runas chroot nsenter unshare systemd-run machinectl passwd chpasswd visudo useradd usermod userdel groupadd adduser deluser ssh-keygen ssh-add ssh-copy-id gpg gpg2 pass security secret-tool keyctl mkfs mke2fs mkswap dd fdisk sfdisk sgdisk gdisk parted wipefs blkdiscard cryptsetup diskutil hdparm lvremove vgremove pvremove mount umount insmod rmmod modprobe sysctl kexec nvram csrutil spctl shutdown reboot halt poweroff init telinit crontab at launchctl iptables ip6tables nft ufw pfctl firewall-cmd setenforce chsh gpasswd groupmod groupdel setcap eval shred srm dropdb dropuser trap alias hash enable bind complete iex invoke-expression',
);
/** Words of any program, or of a tool's name, with which it pays, or changes access or credentials. */
export const NEVER_WORDS = words(
  'login logout adduser addmember auth token tokens credential credentials credential.helper secret secrets iam passwd password owner unpublish destroy terminate pay payment payments payout payouts charge charges refund refunds purchase purchases buy withdraw checkout-session transfer transfers grant revoke collaborator collaborators reboot poweroff',
);

export const SHELLS = words('sh bash zsh dash ash ksh fish source .');
/** Shells of another language. */
export const FOREIGN_SHELLS = words(
  'csh tcsh nu xonsh elvish pwsh powershell powershell.exe pwsh.exe cmd cmd.exe wsl wsl.exe',
);
/** Programs that run what they read, if they are given no file. */
export const INTERPRETERS = words(
  'python python2 python3 ipython pypy pypy3 node nodejs tsx ts-node deno bun perl ruby irb php lua tclsh rscript julia elixir groovy scala swift guile jshell',
);
/** Programs that run what they read, whatever they are given. */
export const INPUT_RUNNERS = words(
  'psql mysql mariadb sqlite3 sqlplus duckdb cqlsh ssh docker podman kubectl make gmake parallel osascript redis-cli mongosh',
);
/** Variables that change how much is said, not what is run. */
export const QUIET_VARIABLES =
  /^(CI|DEBUG|NO_COLOR|FORCE_COLOR|TZ|LANG|LC_\w+|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED)=/;
export const HARMLESS_VARIABLES =
  /^(NODE_ENV|CI|DEBUG|NO_COLOR|FORCE_COLOR|TZ|LANG|LC_\w+|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED)$/;

export const SEARCHES = ['grep', 'egrep', 'fgrep', 'rg', 'find', 'tree'];
/** Programs whose first word is a pattern. */
export const PATTERN_FIRST = ['grep', 'egrep', 'fgrep', 'rg', 'jq'];
export const DELETERS = ['rm', 'rmdir', 'unlink', 'rimraf'];
/** Programs that write the files they name, with the options that change nothing about it. */
export const WRITERS: Readonly<Record<string, RegExp>> = {
  mkdir: /^-[pv]+$/,
  touch: /^-c$/,
  cp: /^-[pfvun]+$/,
  tee: /^-a$/,
};
/** Programs that run the rest of their words. */
export const WRAPPERS: Readonly<Record<string, RegExp | undefined>> = {
  ...Object.fromEntries(
    [...words('nohup command env exec builtin setsid busybox caffeinate ionice')].map((name) => [
      name,
      undefined,
    ]),
  ),
  timeout: /^(-[kv]|--(foreground|preserve-status)|\d+[smh]?)$/,
  nice: /^(-n|-?\d+)$/,
  time: /^-[pv]$/,
  stdbuf: /^-/,
  xargs: /^-/,
};

/** Force pushes, and pushes that delete a branch; git takes the beginning of an option. */
export const REWRITES = /^(-[a-zA-Z]*[fd][a-zA-Z]*|--(forc|m|de|pru).*|[+:].+)$/;
export const CURL_READS =
  /^(-[sSfLvIi]+|--(silent|show-error|fail|location|head|include|compressed|verbose))$/;
export const CURL_VALUED =
  /^((-m|--max-time|--connect-timeout|--retry) \d+|-o \/dev\/null|-w (%\{(http_code|time_total|content_type)\}|\\n|\s)+|-H (accept|content-type): [\w/+*.-]+)$/i;
/** Lines that `sed -n` prints. */
const LINES = String.raw`(\d+|\$|\/[^\/\\\n]+\/)(,(\d+|\$|\+\d+|\/[^\/\\\n]+\/))?p`;
export const SED_PRINTS = new RegExp(`^${LINES}(;${LINES})*$`);
