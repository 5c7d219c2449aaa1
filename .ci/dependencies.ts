import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** SPDX names of permissive licences: a private, hosted service meets their terms by keeping the notices. */
const LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'PSF-2.0',
]);

/** Other licences, of packages that are used only in tests, unmodified, and not passed on to anybody. */
const TEST_ONLY_LICENCES: Record<string, string> = {
  'axe-core': 'MPL-2.0',
  // Comes with `standardwebhooks`, which verifies signatures in tests.
  'fast-sha256': 'Unlicense',
};

interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  allowScripts?: Record<string, boolean>;
}

interface Lock {
  packages: Record<string, LockedPackage>;
}
interface LockedPackage {
  integrity?: string;
  resolved?: string;
  link?: boolean;
  license?: string;
  hasInstallScript?: boolean;
}

/**
 * Lists the faults of the project's dependencies, one per line. package.json must name exact versions. Each package
 * must have a hash in the lock file; come from the registry that npm is configured with, not from an address; have an
 * accepted licence; and be named in `allowScripts`, where somebody has decided about it, if and only if it has an
 * install script. `licenceOf` returns the licence that an installed package declares; packages for other platforms are
 * not installed, so the lock file's word counts.
 */
function faultsOf(
  manifest: Manifest,
  { packages }: Lock,
  licenceOf: (folder: string) => string | undefined,
): string[] {
  const { dependencies, devDependencies, optionalDependencies, allowScripts = {} } = manifest;
  const declaredVersions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const lockedPackages = Object.entries(packages).filter(([folder]) => folder !== '');
  const scriptedNames = lockedPackages
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([folder]) => nameOf(folder));
  return [
    ...declaredVersions
      .filter(([, version]) => !/^\d/.test(version))
      .map(([name]) => `${name}: not an exact version`),
    ...lockedPackages.flatMap(([folder, one]) =>
      packageFaults(folder, one, licenceOf(folder) ?? one.license),
    ),
    ...scriptedNames
      .filter((name) => !(name in allowScripts))
      .map((name) => `${name}: an install script that allowScripts does not name`),
    ...Object.keys(allowScripts)
      .filter((name) => !scriptedNames.includes(name))
      .map((name) => `${name}: in allowScripts without an install script`),
  ];
}

function packageFaults(
  folder: string,
  { integrity, resolved, link }: LockedPackage,
  licence = 'none',
): string[] {
  return [
    ...(integrity === undefined ? [`${folder}: no integrity`] : []),
    ...(resolved === undefined && link === undefined ? [] : [`${folder}: an address of its own`]),
    ...(isAllowed(licence) || TEST_ONLY_LICENCES[nameOf(folder)] === licence
      ? []
      : [`${folder}: licence ${licence}`]),
  ];
}

/** Reports whether an SPDX expression allows use under accepted licences only. Understands no nested expressions. */
function isAllowed(expression: string): boolean {
  const choices = expression.replace(/^\(|\)$/g, '').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((licence) => LICENCES.has(licence)));
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const licenceOf = (folder: string) => {
    const file = join(folder, 'package.json');
    return existsSync(join(root, file)) ? read(file).license : undefined;
  };
  const faults = faultsOf(read('package.json'), read('package-lock.json'), licenceOf);
  for (const fault of faults) process.stderr.write(`dependencies: ${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
}
