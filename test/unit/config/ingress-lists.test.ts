import assert from 'node:assert/strict';
import proxyAddress from 'proxy-addr';
import { ingressConfig } from '../../../shared/config/config.ts';
import { parseOrigins, parseSigningKeys, parseTrustedProxies } from '../../../shared/config/values.ts';

describe('TRUST_PROXY', () => {
  it('TRUST_PROXY accepts addresses, networks and names that the proxy-addr library understands', () => {
    const proxies = ['10.0.0.1', '10.0.0.0/8', '::1', '2001:db8::/32', '::ffff:10.0.0.1', 'loopback'];
    assert.deepEqual(parseTrustedProxies(proxies.join(' , ')), proxies);
    assert.doesNotThrow(() => proxyAddress.compile([...proxies, 'linklocal', 'uniquelocal']));
    assert.ok(parseTrustedProxies('linklocal,uniquelocal'));
  });

  it('TRUST_PROXY is refused if any entry is not an address, a network or a known name', () => {
    const wrong = ['', 'true', '1', 'localhost', '10.0.0', '10.0.0.0/0', '::/0', '10.0.0.0/33', '::1/129'];
    for (const entry of [...wrong, '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.1:80', 'fe80::1%eth0', '*']) {
      assert.equal(parseTrustedProxies(`10.0.0.1,${entry}`), undefined, entry);
    }
  });
});

describe('CORS_ORIGINS', () => {
  it('CORS_ORIGINS accepts origins in the form in which browsers send them', () => {
    const origins = ['https://app.example', 'http://localhost:5173', 'http://[::1]:3000'];
    assert.deepEqual(parseOrigins(origins.join(', ')), origins);
  });

  it('CORS_ORIGINS is refused if any entry differs from the form in which browsers send an origin', () => {
    const wrong = ['', '*', 'null', 'app.example', 'https://app.example/', 'https://app.example/path'];
    for (const entry of [...wrong, 'https://App.example', 'https://app.example:443', 'ftp://app.example']) {
      assert.equal(parseOrigins(`https://ok.example,${entry}`), undefined, entry);
    }
  });
});

describe('JWT_SECRET', () => {
  const [old, next] = ['o'.repeat(32), 'n'.repeat(32)];
  const parse = (value: string) => parseSigningKeys(value, { strong: true });

  it('JWT_SECRET accepts a list of secrets with or without spaces around the commas', () => {
    const keys = [
      { kid: 'b', secret: next },
      { kid: 'a', secret: old },
    ];
    for (const comma of [',', ', ', ' , ', ',\n'])
      assert.deepEqual(parse(`b:${next}${comma}a:${old}`), keys, JSON.stringify(comma));
  });

  it('a JWT_SECRET without the form of a list is one secret, with its spaces, commas and colons', () => {
    for (const secret of [` ${old} `, `one, two: ${old}`, `a:9,${old}`, `${old},b:`])
      assert.deepEqual(parse(secret), [{ kid: 'default', secret }], secret);
  });

  it('JWT_SECRET is refused if it is a list with an entry that has no kid, no secret or the kid of another entry', () => {
    for (const entry of ['', old, 'a', 'a:', `:${old}`, `a b:${old}`, `b:${old}`]) {
      assert.equal(parse(`b:${next},${entry}`), undefined, entry);
      assert.equal(parse(`${entry},b:${next}`), undefined, entry);
    }
  });

  it('a JWT_SECRET with a repeated kid stops the ingress with an error that asks for different kids', () => {
    const stores = { DATABASE_URL: 'postgres://h/d', ADMIN_TOKEN: 't' };
    assert.throws(
      () => ingressConfig({ ...stores, JWT_SECRET: `a:${old},a:${next}` }),
      /^ConfigError: configuration: JWT_SECRET must be [^\n;]*with different kids$/,
    );
  });
});

it('invalid values of TRUST_PROXY and CORS_ORIGINS stop the ingress with one line of error that names both settings', () => {
  const stores = { DATABASE_URL: 'postgres://h/d', JWT_SECRET: 's', ADMIN_TOKEN: 't' };
  const values = { ...stores, TRUST_PROXY: 'all', CORS_ORIGINS: '*' };
  assert.throws(
    () => ingressConfig(values),
    /^ConfigError: configuration: TRUST_PROXY must be [^\n]*; CORS_ORIGINS must be [^\n]*$/,
  );
});
