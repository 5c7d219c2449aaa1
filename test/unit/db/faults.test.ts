import assert from 'node:assert/strict';
import { isLockTimeout, isUnavailable } from '../../../shared/db/faults.ts';

const errorWithCode = (code: string) => Object.assign(new Error('refused'), { code });

describe('database faults', () => {
  for (const code of ['55P03', '57014'])
    it(`a database fault ${code} is a lock timeout, not an outage`, () => {
      assert.equal(isLockTimeout(errorWithCode(code)), true);
      assert.equal(isLockTimeout(new Error('wrapped', { cause: errorWithCode(code) })), true);
      assert.equal(isUnavailable(errorWithCode(code)), false);
    });

  for (const code of ['57P01', '57P03', '53300', '58030', '58P01', '08006', '25006', 'ECONNREFUSED'])
    it(`a database fault ${code} is an outage, not a lock timeout`, () => {
      assert.equal(isUnavailable(errorWithCode(code)), true);
      assert.equal(isLockTimeout(errorWithCode(code)), false);
    });

  it('a database fault 23505 is neither an outage nor a lock timeout', () => {
    assert.equal(isUnavailable(errorWithCode('23505')) || isLockTimeout(errorWithCode('23505')), false);
  });
});
