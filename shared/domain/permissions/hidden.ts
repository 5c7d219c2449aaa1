import { posix } from 'node:path';
import { parse } from 'unbash';
import type { Called, Inner } from './called.ts';
import { highest, type Level } from './permission.ts';
import { levelOfReading, levelOfWriting, placeOf, SINKS, type Where } from './places.ts';
import { NEVER_WORDS, REWRITES } from './programs.ts';
import type { Word } from './words.ts';

/** What may be run by a program that nothing is known of: what its words name, in any language. */

/** A program's name without its folder; disks of Macs do not tell the case of letters apart. */
export const plainNameOf = ({ text }: Word) => posix.basename(text).toLowerCase();

/** Programs that no other word is likely to be. */
const NAMES =
  'sudo doas pkexec runuser chroot nsenter mkfs dd shred wipefs fdisk parted diskutil crontab shutdown reboot poweroff visudo useradd usermod userdel chpasswd dropdb dropuser ssh-keygen ssh-copy-id iptables launchctl eval rm rmdir unlink rimraf sh bash zsh dash ksh fish pwsh powershell'.split(
    ' ',
  );
const PROGRAMS = new Set(NAMES);
const IN_SCRIPT = new RegExp(String.raw`\s(.*\W)?(${NAMES.join('|')})(\s|$)|^(${NAMES.join('|')})\s`, 's');

/** Returns the calls and scripts that the words may be. */
export function hiddenIn(called: Called): Inner[] {
  const calls = called.words.flatMap((program, at): Inner[] =>
    PROGRAMS.has(plainNameOf(program))
      ? [{ call: { ...called, program, words: called.words.slice(at + 1), input: [] } }]
      : [],
  );
  const scripts = called.words.filter(
    ({ text, isKnown }) => isKnown && IN_SCRIPT.test(text) && isScript(text),
  );
  return [...calls, ...scripts.map(({ text }) => ({ script: text }))];
}

function isScript(text: string): boolean {
  const { errors = [], commands } = parse(text);
  return errors.length === 0 && commands.length > 0;
}

/** Destroys data, in languages of databases and of programs. */
const DESTROYS =
  /\bdrop\s+(if\s+exists\s+)?(table|database|schema|user|role|owned|view|materialized|index|column|type|sequence|extension|tablespace|policy|collection|keyspace)\b|\btruncate\s+["\w]|\bmysqladmin\b.*\bdrop\b|\bdelete\s+from\b|\bgrant\s+\w+.*\bto\b|\b(rmtree|rmsync|rmdirsync|unlinksync|removedirs|remove-item|dropdatabase|dropcollection|deletemany|flushall|flushdb)\b|\.drop\(|\b(db|schema)(:migrate)?:(drop|reset)\b|\bmigrate[: ](fresh|reset)\b|\bdb reset\b|--(force-reset|accept-data-loss)\b|\bmanage\.py (flush|reset_db)\b|\b(system|volume|image|container|builder) prune\b/i;
const DELETES = /\brm\s+-\w*[rf]/;
/** Settings say what a manager of packages fetches and runs, and git. */
const SETS =
  /(^|\s)(config( set\b|=)|git .*-c \S+=)|^(npm|pnpm) (-\S+ )*(c )?set\b|^go env -\w*[wu]|\bgit (-\S+ ([^\s-]\S* )?)*config (?!--get|--list|-l|get|list)/;
/** Where machines of clouds say their credentials. */
const SAYS_CREDENTIALS = /\b169\.254\.169\.254\b|\b100\.100\.100\.200\b|\bmetadata\.google\.internal\b/;
const CLOUDS = new Set(
  'aws gcloud gsutil bq az kubectl oc helm argocd flux terraform tofu pulumi cdk sls serverless amplify heroku fly flyctl doctl hcloud linode-cli scw oci ibmcloud vercel netlify wrangler firebase supabase railway eksctl gh glab rclone s3cmd rsync nomad consul vault etcdctl kind k3d vagrant virsh pscale neonctl turso databricks'.split(
    ' ',
  ),
);
const DESTROYS_THERE =
  /^-*(X|\w+:)?(delete|del|destroy|terminate|remove|rm|rb|drain|uninstall|purge|drop|reset)([-:]|$)/i;
/** Words of programs of clouds that are about access. */
const ACCESS =
  /^-*([\w-]+-)?(iam|acl|policy|rolebinding|clusterrolebinding|role-assignment|assume-role|passwords?|tokens?|secrets?|secretsmanager|credentials?|collaborators?|visibility)(-[\w-]+)?$/;
/** Gives a container the machine. */
const WHOLE_MACHINE =
  /(^|\s)--(privileged\b|(pid|ipc|userns|uts)[ =]host\b|cap-add\b|security-opt\b)|docker\.sock/;

/** How dangerous the words of a program are of which nothing is known. */
export function levelOfWords(name: string, called: Called, where: Where): Level {
  const texts = called.words.map(({ text }) => text);
  const isRaised = texts.some((text) =>
    text
      .toLowerCase()
      .split(/[^a-z.-]+/)
      .some((word) => NEVER_WORDS.has(word.replace(/^-+/, ''))),
  );
  const whole = [name, ...texts, ...called.input].join(' ');
  const pieces = whole.split(/[\s"'`;&|()=/]+/);
  const isInCloud = pieces.some((piece) => CLOUDS.has(piece));
  // What it does is only known when it runs: the same words may do another thing next time.
  const isNever =
    !called.words.every(({ isKnown }) => isKnown) ||
    isRaised ||
    [DESTROYS, SETS, SAYS_CREDENTIALS, WHOLE_MACHINE].some((is) => is.test(whole)) ||
    [...texts, ...called.input].some((text) => DELETES.test(text)) ||
    rewrites(pieces) ||
    (isInCloud && pieces.some((piece) => DESTROYS_THERE.test(piece) || ACCESS.test(piece)));
  return isNever
    ? 'never'
    : highest([...texts.flatMap(piecesOf).map((piece) => levelAt(piece, where)), 'strict']);
}

/** Finds a force push, or a push that deletes a branch, whoever calls git. */
function rewrites(pieces: readonly string[]): boolean {
  const push = pieces.findIndex((piece) => /^(push|send-pack)$/.test(piece));
  return push > 0 && pieces.includes('git') && pieces.slice(push).some((piece) => REWRITES.test(piece));
}

/** Names of files in a word: after an option, `=`, `@` and `:`. An address has none. */
function piecesOf(text: string): string[] {
  if (text.includes('://')) return [text];
  return text.replace(/^-[A-Za-z](?=[~/])/, '').split(/[=@:,]/);
}

function levelAt(piece: string, where: Where): Level {
  const place = placeOf(piece, where);
  if (SINKS.test(place.path) || piece === '') return 'strict';
  return highest([levelOfReading(place), levelOfWriting(place)]);
}
