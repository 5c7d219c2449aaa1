import assert from 'node:assert/strict';
import { request } from 'node:http';
import { SignJWT, UnsecuredJWT } from 'jose';
import { newId } from '../../../shared/ids.ts';
import { newServiceKey } from '../../../shared/security/keys.ts';
import { anonymously, signUp, type UserClient } from '../../support/account.ts';
import { useSystem } from '../../support/system.ts';

const SECRET = 'the-first-secret-has-32-bytes-or-more';
const OTHER = 'the-second-secret-has-32-bytes-or-more';
const ISSUER = 'http://localhost:8080';

describe('credentials for /api', () => {
  const system = useSystem({ workers: 0, env: { JWT_SECRET: `old:${SECRET}`, PUBLIC_URL: ISSUER } });
  let person: UserClient;
  let key: string;

  before(async () => {
    person = await signUp(system);
    key = await keyOf(person);
  });

  const keyOf = async (user: UserClient) =>
    (await user.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'test' })).body.key;

  const me = (headers: Record<string, string>, at = system.webs[0]) =>
    anonymously<{ id: string }>(system, 'GET', '/api/auth/me/', undefined, { headers, ...(at && { at }) });

  const expectCode = async (code: string, headers: Record<string, string>) => {
    const reply = await me(headers);
    assert.deepEqual(
      { status: reply.status, code: reply.code },
      { status: 401, code },
      JSON.stringify(headers),
    );
    assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer resource_metadata=/);
  };

  it('/api accepts an access token in Authorization, a key in X-Service-API-Key, or both of the same account', async () => {
    const authorization = `Bearer ${person.access}`;
    const ways: Record<string, string>[] = [
      { authorization },
      { authorization: `bEARER  ${person.access}` },
      { 'x-service-api-key': key },
      { authorization, 'x-service-api-key': key },
    ];
    for (const headers of ways) assert.deepEqual((await me(headers)).body.id, person.id);
  });

  it('/api refuses a key in Authorization, an access token in X-Service-API-Key, and any refresh token or cookie', async () => {
    await expectCode('not_authenticated', { authorization: `Bearer ${key}` });
    await expectCode('not_authenticated', { 'x-service-api-key': person.access });
    await expectCode('not_authenticated', {
      cookie: `access=${person.access}; session=${person.refresh}; ${key}`,
    });
    await expectCode('not_authenticated', { authorization: `Bearer ${person.refresh}` });
    await expectCode('not_authenticated', { authorization: `Basic ${person.access}` });
    await expectCode('not_authenticated', {});
  });

  it('/api refuses a token and a key together when either is wrong or they belong to different accounts', async () => {
    const other = await signUp(system);
    const authorization = `Bearer ${person.access}`;
    await expectCode('not_authenticated', { authorization, 'x-service-api-key': await keyOf(other) });
    await expectCode('not_authenticated', { authorization, 'x-service-api-key': newServiceKey().key });
    await expectCode('not_authenticated', { authorization, 'x-service-api-key': '' });
    await expectCode('not_authenticated', { authorization: 'Bearer nonsense', 'x-service-api-key': key });
    await expectCode('not_authenticated', { authorization: '', 'x-service-api-key': key });
  });

  it('malformed or repeated credentials of /api are 401 or 400, never 500', async () => {
    const typo = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
    const values = [
      'service_',
      typo,
      `${key} `.repeat(3),
      `${key},${key}`,
      '\u00ff\u00fe',
      'a.b.c',
      '...',
      'e30.e30.e30',
    ];
    for (const value of values) {
      await expectCode('not_authenticated', { 'x-service-api-key': value });
      await expectCode('not_authenticated', { authorization: value });
      await expectCode('not_authenticated', { authorization: `Bearer ${value}` });
    }
    assert.equal(await statusOfTwo('Authorization', `Bearer ${key}`), 400);
    assert.equal(await statusOfTwo('X-Service-API-Key', key), 401);
  });

  /** Resolves with the status of a request that sends the same header twice. */
  const statusOfTwo = (name: string, value: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const call = request(`${system.webs[0]?.url}/api/auth/me/`, { headers: { [name]: [value, value] } });
      call.once('response', (response) => resolve(response.resume().statusCode));
      call.once('error', reject).end();
    });

  describe('access token', () => {
    const now = () => Math.floor(Date.now() / 1000);
    const claims = (part: object = {}) => {
      return { sub: person.id, sid: newId(), jti: 'a-jti', auth_time: now(), gen: 0, ...part };
    };

    /** Signs a token as the service does, except for what the test changes. */
    const forge = (
      change: {
        header?: object;
        claims?: object;
        iss?: string;
        aud?: string;
        iat?: number;
        exp?: number;
      } = {},
      secret = SECRET,
    ) =>
      new SignJWT(claims(change.claims))
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: 'old', ...change.header })
        .setIssuer(change.iss ?? ISSUER)
        .setAudience(change.aud ?? `${ISSUER}/api`)
        .setIssuedAt(change.iat ?? now())
        .setExpirationTime(change.exp ?? now() + 600)
        .sign(Buffer.from(secret));

    const expectRefused = async (token: string, code = 'not_authenticated') =>
      expectCode(code, { authorization: `Bearer ${token}` });

    it('an access token names its issuer, audience, subject, id and signing key, and expires after an hour', async () => {
      const [header = '', payload = ''] = person.access.split('.');
      const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
      assert.deepEqual(decode(header), { alg: 'HS256', typ: 'JWT', kid: 'old' });
      const { iss, aud, sub, jti, iat, exp, auth_time, gen, sid, ...rest } = decode(payload);
      assert.deepEqual(
        { iss, aud, sub, rest },
        { iss: ISSUER, aud: `${ISSUER}/api`, sub: person.id, rest: {} },
      );
      assert.equal(exp - iat, 3600);
      assert.equal(gen, 0);
      assert.ok(Math.abs(auth_time - iat) <= 1, `${auth_time} ${iat}`);
      for (const id of [jti, sid]) assert.match(id, /^[0-9a-f-]{36}$/);
    });

    it('an access token is accepted even if clocks differ by a few seconds', async () => {
      assert.equal((await me({ authorization: `Bearer ${await forge()}` })).status, 200);
      const early = await forge({ iat: now() + 3 });
      assert.equal((await me({ authorization: `Bearer ${early}` })).status, 200);
      const late = await forge({ iat: now() - 60, exp: now() - 2 });
      assert.equal((await me({ authorization: `Bearer ${late}` })).status, 200);
    });

    it('an access token with any signing algorithm other than HS256 is refused', async () => {
      const unsecured = new UnsecuredJWT(claims()).setIssuer(ISSUER).setAudience(`${ISSUER}/api`);
      await expectRefused(unsecured.setIssuedAt().setExpirationTime('10 min').encode());
      for (const alg of ['HS384', 'HS512'])
        await expectRefused(await forge({ header: { alg } }, SECRET.repeat(2)));
      const [, payload = '', signature = ''] = (await forge()).split('.');
      for (const alg of ['none', 'None', 'RS256', 'ES256', 'EdDSA', 'HS512', 'hs256', null]) {
        const header = Buffer.from(JSON.stringify({ alg, typ: 'JWT', kid: 'old' })).toString('base64url');
        await expectRefused(`${header}.${payload}.${signature}`);
        await expectRefused(`${header}.${payload}.`);
      }
    });

    it('an access token is refused if its audience, issuer, type or signing key is wrong, or if it was altered', async () => {
      await expectRefused(await forge({ iss: 'https://elsewhere.example' }));
      await expectRefused(await forge({ aud: ISSUER }));
      await expectRefused(await forge({}, OTHER));
      await expectRefused(await forge({ header: { kid: 'unknown' } }));
      await expectRefused(await forge({ header: { kid: undefined } }));
      await expectRefused(await forge({ header: { typ: 'refresh' } }));
      const other = await signUp(system);
      const [header, payload] = other.access.split('.');
      await expectRefused(`${header}.${payload}.${person.access.split('.')[2]}`);
    });

    it('an access token is refused if a claim is missing or lies in the future, or its subject is not an account', async () => {
      await expectRefused(await forge({ claims: { jti: undefined } }));
      await expectRefused(await forge({ claims: { sub: undefined } }));
      await expectRefused(await forge({ claims: { sub: 'nobody' } }));
      await expectRefused(await forge({ claims: { sub: 7 } }));
      await expectRefused(await forge({ claims: { sub: '00000000-0000-7000-8000-000000000000' } }));
      await expectRefused(await forge({ claims: { nbf: now() + 60 } }));
      await expectRefused(await forge({ iat: now() + 60 }));
      const endless = new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: 'old' });
      await expectRefused(
        await endless.setIssuer(ISSUER).setAudience(`${ISSUER}/api`).sign(Buffer.from(SECRET)),
      );
    });

    it('an expired access token is 401 token_expired', async () => {
      await expectRefused(await forge({ iat: now() - 3600, exp: now() - 60 }), 'token_expired');
      // A token is valid for at most an hour, even if its `exp` is later.
      await expectRefused(await forge({ iat: now() - 3700, exp: now() + 3600 }), 'token_expired');
      const expired = await forge({ iat: now() - 3600, exp: now() - 60 });
      await expectCode('token_expired', { authorization: `Bearer ${expired}`, 'x-service-api-key': key });
      await expectRefused(await forge({ exp: now() - 60 }, OTHER));
    });

    it('an access token is accepted as long as JWT_SECRET lists its signing key', async () => {
      const { webs } = system;
      const rotated = await system.startWeb({ JWT_SECRET: `new:${OTHER},old:${SECRET}` });
      const dropped = await system.startWeb({ JWT_SECRET: `new:${OTHER}` });
      assert.equal((await me({ authorization: `Bearer ${person.access}` }, rotated)).status, 200);
      assert.equal((await me({ authorization: `Bearer ${person.access}` }, dropped)).status, 401);

      const later = await signUp({ webs: [rotated] });
      const header = JSON.parse(Buffer.from(later.access.split('.')[0] ?? '', 'base64url').toString());
      assert.equal(header.kid, 'new');
      assert.equal((await me({ authorization: `Bearer ${later.access}` }, dropped)).status, 200);
      // A process that does not know the new key yet refuses the token, and keeps running.
      assert.equal((await me({ authorization: `Bearer ${later.access}` }, webs[0])).status, 401);
    });
  });
});
