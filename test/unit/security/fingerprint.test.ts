import assert from 'node:assert/strict';
import fc from 'fast-check';
import { canonicalJson, fingerprint } from '../../../shared/security/fingerprint.ts';

describe('body fingerprint', () => {
  it("a body fingerprint does not depend on the order of an object's keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        const reversed = Object.fromEntries(Object.entries(body).reverse());
        assert.equal(canonicalJson(reversed), canonicalJson(body));
        assert.deepEqual(JSON.parse(canonicalJson(body)), JSON.parse(JSON.stringify(body)));
      }),
    );
  });

  it("a body fingerprint depends on the order of a list's items", () => {
    assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]));
  });

  it("a body fingerprint depends on the secret key and on the body's text", () => {
    const [a, b] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    assert.notDeepEqual(fingerprint(a, 'x'), fingerprint(b, 'x'));
    assert.notDeepEqual(fingerprint(a, 'x'), fingerprint(a, 'y'));
    assert.deepEqual(fingerprint(a, 'x'), fingerprint(a, 'x'));
  });
});
