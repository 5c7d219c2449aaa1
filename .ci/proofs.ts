import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const TESTS = join(import.meta.dirname, '../test');
/** Tags at the end of a title. */
const TAGS = /(?: #[a-z][a-z-]*)+(?=['"`],)/g;

/** Returns the test files that prove each promise, by the id of its row in docs/reliability.md. */
export function findProofs(): Map<string, Set<string>> {
  const proofs = new Map<string, Set<string>>();
  for (const file of globSync('**/*.ts', { cwd: TESTS }).toSorted())
    for (const [tags] of readFileSync(join(TESTS, file), 'utf8').matchAll(TAGS))
      for (const id of tags.trim().slice(1).split(' #'))
        proofs.set(id, (proofs.get(id) ?? new Set()).add(file.replace('.test.ts', '')));
  return proofs;
}
