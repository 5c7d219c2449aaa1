import { dirname } from 'node:path';
import { PROCESS_ROOMS, RULES, SHARED_BASE } from './import-rules.ts';
import { fail, type Import, importsOf, sourcesIn, textOf } from './sources.ts';

/** Exits with 1 if an import breaks the rules, or the kernel names a kind of work. Type imports count. */
const imports = ['bin', 'client', 'ingress', 'workers', 'shared', 'migrations']
  .flatMap((folder) => sourcesIn(folder))
  .flatMap(importsOf);
for (const { file, target } of imports.filter((one) => !isAllowed(one)))
  fail(`${file} may not import ${target}: .ci/import-rules.ts`);

/** The kernel works for any kind of work, so it names none. */
const KERNEL = new RegExp(
  [
    '^shared/db/sql/(admit.*|claim|complete|find|detach|release|repair|load|usage)[.]sql$',
    '^(shared/db/stores|shared|workers|ingress)/work/',
  ].join('|'),
);
const KINDS_FILE = 'shared/work/kinds.ts';
const kindNames = [...textOf(KINDS_FILE).matchAll(/\bname: '(\w+)'/g)].map(([, name]) => name);
const namedKind = new RegExp(`(['"\`])(${kindNames.join('|')})\\1`);
for (const file of [...sourcesIn('ingress'), ...sourcesIn('workers'), ...sourcesIn('shared', /[.](ts|sql)$/)])
  if (KERNEL.test(file) && file !== KINDS_FILE) {
    const [named] = textOf(file).match(namedKind) ?? [];
    if (named !== undefined) fail(`${file} may not name ${named}: a kind declares its own in ${KINDS_FILE}`);
  }

function isAllowed({ file, target, isPackage, names }: Import): boolean {
  const [prefix, rule] = longestPrefix(Object.entries(RULES).filter(([room]) => file.startsWith(room)));
  if (!isPackage) {
    const base = PROCESS_ROOMS.test(file) ? SHARED_BASE : [];
    return [...base, ...rule.rooms, roomOf(prefix)].some((room) => target.startsWith(room));
  }
  return (rule.packages ?? []).some((allowed) => {
    const [name = '', only] = allowed.split(': ');
    const isNamed = name.endsWith('/*')
      ? target.startsWith(name.slice(0, -1))
      : target.split('/')[0] === name || target === name;
    return isNamed && (only === undefined || names.every((one) => only.split(' ').includes(one)));
  });
}

function longestPrefix<T>(rules: [string, T][]): [string, T] {
  const [first] = rules.sort(([a], [b]) => b.length - a.length);
  if (first === undefined) throw new Error('a file without a rule: .ci/import-rules.ts');
  return first;
}

function roomOf(prefix: string): string {
  return prefix.endsWith('/') ? prefix : `${dirname(prefix)}/`;
}
