import assert from 'node:assert/strict';
import { isLockTimeout, isUnavailable } from '../../../shared/db/faults.ts';

const errorWithCode = (code: string) => Object.assign(new Error('refused'), { code });

describe('database errors', () => {
  for (const code of ['55P03', '57014'])
    it(`a database error ${code} counts as a lock timeout, not as an outage`, () => {
      assert.equal(isLockTimeout(errorWithCode(code)), true);
      assert.equal(isLockTimeout(new Error('wrapped', { cause: errorWithCode(code) })), true);
      assert.equal(isUnavailable(errorWithCode(code)), false);
    });

  for (const code of ['57P01', '57P03', '53300', '58030', '58P01', '08006', '25006', 'ECONNREFUSED'])
    it(`a database error ${code} counts as an outage, not as a lock timeout`, () => {
      assert.equal(isUnavailable(errorWithCode(code)), true);
      assert.equal(isLockTimeout(errorWithCode(code)), false);
    });

  it('a unique violation (SQLSTATE 23505) counts neither as an outage nor as a lock timeout', () => {
    assert.equal(isUnavailable(errorWithCode('23505')) || isLockTimeout(errorWithCode('23505')), false);
  });
});
