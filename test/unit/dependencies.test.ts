import assert from 'node:assert/strict';
import { faultsOf } from '../../.ci/dependencies.ts';

const VALID_PACKAGE = { integrity: 'sha512-x', license: 'MIT' };

function faults(
  fields: object,
  { allowScripts = {}, version = '1.0.0', installed = undefined as string | undefined } = {},
) {
  const lock = { packages: { '': {}, 'node_modules/a': { ...VALID_PACKAGE, ...fields } } };
  return faultsOf({ dependencies: { a: version }, allowScripts }, lock, () => installed);
}

describe('dependency check', () => {
  it('the dependency check accepts an exact version with a hash and a permissive licence', () => {
    for (const license of ['MIT', '(MIT OR GPL-3.0-only)', 'MIT AND ISC'])
      assert.deepEqual(faults({ license }), []);
  });

  it('the dependency check refuses a version range, a package without a hash, and a git or linked package', () => {
    assert.equal(faults({}, { version: '^1.0.0' }).length, 1);
    assert.equal(faults({ integrity: undefined }).length, 1);
    assert.equal(faults({ resolved: 'git+ssh://git@example.com/a.git' }).length, 1);
    assert.equal(faults({ link: true }).length, 1);
  });

  it('the dependency check refuses a licence that is not permissive, even if only the installed package states it', () => {
    for (const license of ['GPL-3.0-only', 'MIT AND GPL-3.0-only', 'UNLICENSED', undefined])
      assert.equal(faults({ license }).length, 1);
    assert.equal(faults({}, { installed: 'AGPL-3.0-only' }).length, 1);
  });

  it('the dependency check refuses an install script missing from allowScripts, and an entry there without a script', () => {
    assert.equal(faults({ hasInstallScript: true }).length, 1);
    assert.deepEqual(faults({ hasInstallScript: true }, { allowScripts: { a: false } }), []);
    assert.equal(faults({}, { allowScripts: { a: false } }).length, 1);
  });
});
