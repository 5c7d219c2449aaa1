import { posix } from 'node:path';
import { parse } from 'unbash';
import type { Called, Inner } from './called.ts';
import { highest, type Level } from './permission.ts';
import { levelOfReading, levelOfWriting, placeOf, SINKS, type Where } from './places.ts';
import { NEVER_WORDS } from './programs.ts';
import type { Word } from './words.ts';

/** What may be run by a program that nothing is known of: what its words name, in any language. */

/** A program's name without its folder; disks of Macs do not tell the case of letters apart. */
export const plainNameOf = ({ text }: Word) => posix.basename(text).toLowerCase();

/** Programs that no other word is likely to be. */
const NAMES =
  'sudo doas pkexec mkfs dd shred wipefs eval rm rmdir unlink rimraf sh bash zsh dash ksh fish pwsh powershell'.split(
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
  /\b(drop|truncate)\s+(table|database|schema|user|role)\b|\bdelete\s+from\b|\bgrant\s+\w+.*\bto\b|\b(rmtree|rmsync|rmdirsync|unlinksync|removedirs|remove-item|dropdatabase|flushall|flushdb)\b|\bdb:(drop|reset)\b|\bmigrate[: ](fresh|reset)\b|\bdb reset\b/i;
const DELETES = /\brm\s+-\w*[rf]/;
/** Settings say what a manager of packages fetches and runs. */
const SETS = /^config( set\b|=)/;
const CLOUDS = new Set(
  'aws gcloud az kubectl helm terraform tofu pulumi heroku fly flyctl doctl vercel netlify supabase railway eksctl gh glab'.split(
    ' ',
  ),
);
const DESTROYS_THERE = /^-*(delete|destroy|terminate|remove|rm|rb|drain|uninstall|purge|drop|reset)([-:]|$)/;
/** Gives a container the machine. */
const WHOLE_MACHINE = /^--(privileged|pid=host|cap-add=.*)$|docker\.sock/;

/** How dangerous the words of a program are of which nothing is known. */
export function levelOfWords(name: string, called: Called, where: Where): Level {
  const texts = called.words.map(({ text }) => text);
  const isRaised = texts.some((text) =>
    text
      .toLowerCase()
      .split(/[^a-z.-]+/)
      .some((word) => NEVER_WORDS.has(word.replace(/^-+/, ''))),
  );
  // What it does is only known when it runs: the same words may do another thing next time.
  const isNever =
    !called.words.every(({ isKnown }) => isKnown) ||
    isRaised ||
    DESTROYS.test([...texts, ...called.input].join(' ')) ||
    [...texts, ...called.input].some((text) => DELETES.test(text)) ||
    SETS.test(texts.join(' ')) ||
    (CLOUDS.has(name) && texts.some((text) => DESTROYS_THERE.test(text))) ||
    texts.some((text) => WHOLE_MACHINE.test(text));
  return isNever
    ? 'never'
    : highest([...texts.flatMap(piecesOf).map((piece) => levelAt(piece, where)), 'strict']);
}

/** Names of files in a word: after an option, `=`, `@` and `:`. An address has none. */
function piecesOf(text: string): string[] {
  if (text.includes('://')) return [text];
  return text.replace(/^-[A-Za-z](?=~|\/\w)/, '').split(/[=@:,]/);
}

function levelAt(piece: string, where: Where): Level {
  const place = placeOf(piece, where);
  if (SINKS.test(place.path) || piece === '') return 'strict';
  return highest([levelOfReading(place), levelOfWriting(place)]);
}
