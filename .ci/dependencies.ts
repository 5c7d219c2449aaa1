import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** SPDX names of licences whose terms a private, hosted service meets by keeping the notices: all permissive. */
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

/** Other licences, of packages that tests use as they are and nobody is given. */
const IN_TESTS: Record<string, string> = { 'axe-core': 'MPL-2.0' };

/** What is read of package.json. */
interface Manifest {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  allowScripts?: Record<string, boolean>;
}

/** What is read of package-lock.json, by the folder of each package. */
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
 * The faults of the project's dependencies, one a line. Each package must have a hash in the lock file and come from the
 * registry that npm is configured with, not from an address; have a permissive licence; and, if it has an install
 * script, be named in `allowScripts`, where somebody has decided about it. `licenceOf` is what an installed package says
 * itself; packages for other platforms are not installed.
 */
export function faultsOf(
  manifest: Manifest,
  { packages }: Lock,
  licenceOf: (folder: string) => string | undefined,
): string[] {
  const { dependencies, devDependencies, optionalDependencies, allowScripts = {} } = manifest;
  const wanted = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const locked = Object.entries(packages).filter(([folder]) => folder !== '');
  const scripted = locked
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([folder]) => nameOf(folder));
  return [
    ...wanted.filter(([, version]) => !/^\d/.test(version)).map(([name]) => `${name}: not an exact version`),
    ...locked.flatMap(([folder, one]) => packageFaults(folder, one, licenceOf(folder) ?? one.license)),
    ...scripted
      .filter((name) => !(name in allowScripts))
      .map((name) => `${name}: an install script that allowScripts does not name`),
    ...Object.keys(allowScripts)
      .filter((name) => !scripted.includes(name))
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
    ...(isAllowed(licence) || IN_TESTS[nameOf(folder)] === licence ? [] : [`${folder}: licence ${licence}`]),
  ];
}

/** Whether an SPDX expression allows a use under accepted licences only. Ours nest no `AND` and `OR`. */
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
