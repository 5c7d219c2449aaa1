import assert from 'node:assert/strict';
import { DECOY_HASH, hashPassword, verifyPassword } from '../../../shared/security/passwords.ts';

describe('password hash', () => {
  it('a password hash contains its algorithm, its cost and a unique salt', async () => {
    const [one, other] = await Promise.all([hashPassword('some password'), hashPassword('some password')]);
    const PHC = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/;
    assert.match(one, PHC);
    assert.notEqual(one, other);
  });

  it('a password hash matches its password only, in composed or decomposed Unicode', async () => {
    const hash = await hashPassword('se\u00f1or Zo\u00eb');
    assert.ok(await verifyPassword('sen\u0303or Zoe\u0308', hash));
    assert.ok(!(await verifyPassword('senor Zoe', hash)));
    assert.ok(!(await verifyPassword('', hash)));
  });

  it('a password hash of the argon2 reference implementation is verified at the cost that it states', async () => {
    // Made with the reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l 32
    const known = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    assert.ok(await verifyPassword('password', known));
    assert.ok(!(await verifyPassword('Password', known)));
  });

  it('the decoy password hash for unknown accounts has the usual cost, and a password does not match it', async () => {
    const [, ...cost] = DECOY_HASH.split('$').slice(0, -2);
    assert.deepEqual(cost, (await hashPassword('some password')).split('$').slice(1, -2));
    assert.ok(!(await verifyPassword('some password', DECOY_HASH)));
  });
});
