import { Call } from './call.ts';
import type { Called, Reading } from './called.ts';
import { isFilter, isStricter, saysText } from './filters.ts';
import { GitCall } from './git.ts';
import { plainNameOf } from './hidden.ts';
import type { Where } from './places.ts';
import {
  DELETERS,
  FOREIGN_SHELLS,
  NEVER,
  READERS,
  SED_PRINTS,
  SHELLS,
  WRAPPERS,
  WRITERS,
} from './programs.ts';

const SYSTEM_FOLDER = /^\/(usr\/(local\/)?)?s?bin\//;

export function partOfCall(called: Called, where: Where): Reading {
  const name = plainNameOf(called.program);
  const isPlain = name === called.program.text;
  if (isPlain || !called.program.isKnown) return readingOf(called, where);
  const plain = readingOf({ ...called, program: { ...called.program, text: name } }, where);
  // Another program of that name is as dangerous, but only a shell or a wrapper of the system is the same.
  if (SYSTEM_FOLDER.test(called.program.text) && plain.inner !== undefined) return plain;
  return plain.part.level === 'never' ? plain : readingOf(called, where);
}

function readingOf(called: Called, where: Where): Reading {
  const call = new Call(called, where);
  const { name, words } = call;
  if (!called.program.isKnown || NEVER.has(name) || name.startsWith('mkfs.')) return call.same('never');
  if (SHELLS.has(name)) return call.shell();
  if (FOREIGN_SHELLS.has(name)) return call.foreignShell();
  if (name === 'command' && /^-[vV]$/.test(words[0]?.text ?? ''))
    return call.reads(['which'], words.slice(1));
  if (Object.hasOwn(WRAPPERS, name)) return call.wrapper(WRAPPERS[name]);
  if (call.runsInput()) return call.same('never');
  if (isFilter(called) || isStricter(called)) return call.harmless();
  if (saysText(name)) return call.says();
  if (DELETERS.includes(name)) return call.deletes();
  if (Object.hasOwn(WRITERS, name)) return call.writes(WRITERS[name] ?? /^$/);
  if (Object.hasOwn(READERS, name)) return call.reads([name], words, READERS[name]);
  if (name === 'sed' && words[0]?.text === '-n' && SED_PRINTS.test(words[1]?.text ?? ''))
    return call.reads([name], words.slice(2), /^-/);
  if (name === 'curl') return call.curl();
  if (name === 'git') return new GitCall(called, where).git();
  return call.runner() ?? call.bySubcommand() ?? call.other();
}
