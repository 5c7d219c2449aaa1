import assert from 'node:assert/strict';
import { SignJWT } from 'jose';
import type { LoginResponse, NewKeyResponse } from '../../../shared/schemas/accounts.ts';
import { anonymously, signUp, type UserClient } from '../../support/account.ts';
import { useSystem } from '../../support/system.ts';

const SECRET = 'the-first-secret-has-32-bytes-or-more';
const ISSUER = 'http://localhost:8080';

const GUARDED_ACTIONS = [
  { what: 'issuing a key', method: 'POST', path: '/api/auth/keys/', body: { label: 'k' }, done: 201 },
  { what: 'erasing the account', method: 'DELETE', path: '/api/auth/me/', body: undefined, done: 204 },
] as const;

for (const { what, method, path, body, done } of GUARDED_ACTIONS)
  describe(what, () => {
    const system = useSystem({ workers: 0, env: { JWT_SECRET: SECRET, PUBLIC_URL: ISSUER } });
    let person: UserClient;

    before(async () => {
      person = await signUp(system);
    });

    const attempt = async (headers: Record<string, string>) => {
      const { status, code } = await anonymously(system, method, path, body, { headers });
      return code === undefined ? status : `${status} ${code}`;
    };
    const bearer = (access: string) => ({ authorization: `Bearer ${access}` });

    const keyOf = async () =>
      (await person.request<NewKeyResponse>('POST', '/api/auth/keys/', { label: 'first' })).body.key;

    const renewAccess = async (refresh: string) =>
      (await anonymously<{ access: string }>(system, 'POST', '/api/auth/token/refresh/', { refresh })).body
        .access;

    it(`${what} is refused with a key alone`, async () => {
      assert.equal(await attempt({ 'x-service-api-key': await keyOf() }), '403 access_denied');
    });

    it(`${what} is refused if the log-in is older than ten minutes, even with a new access token`, async () => {
      const { email, password } = person;
      const { body: login } = await anonymously<LoginResponse>(system, 'POST', '/api/auth/login/', {
        email,
        password,
      });
      await system.database.pool.query(
        `update refresh_tokens set created_at = created_at - interval '601 seconds' where hash = sha256($1)`,
        [Buffer.from(login.refresh)],
      );
      const old = bearer(await renewAccess(login.refresh));
      assert.equal(await attempt(old), '403 fresh_login_required');
      // A key that is sent with the token does not make the log-in fresh.
      assert.equal(await attempt({ ...old, 'x-service-api-key': await keyOf() }), '403 fresh_login_required');
      assert.equal(
        (await anonymously(system, 'GET', '/api/auth/me/', undefined, { headers: old })).status,
        200,
      );
    });

    it(`${what} is refused with an access token that lacks the time of its log-in`, async () => {
      const token = new SignJWT({ sub: person.id, jti: 'a-jti' })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: 'default' })
        .setIssuer(ISSUER)
        .setAudience(`${ISSUER}/api`)
        .setIssuedAt()
        .setExpirationTime('10 min');
      const headers = bearer(await token.sign(Buffer.from(SECRET)));
      assert.equal(await attempt(headers), '403 fresh_login_required');
    });

    it(`${what} is allowed after a fresh log-in, even with a renewed access token`, async () => {
      if (method === 'POST') {
        assert.equal(await attempt(bearer(person.access)), done);
        assert.equal(await attempt({ ...bearer(person.access), 'x-service-api-key': await keyOf() }), done);
      }
      assert.equal(await attempt(bearer(await renewAccess(person.refresh))), done);
    });
  });
