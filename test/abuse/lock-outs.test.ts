import assert from 'node:assert/strict';
import type { LoginResponse } from '../../shared/schemas/accounts.ts';
import { anonymously, someEmail, UserClient } from '../support/account.ts';
import { useSystem } from '../support/system.ts';
import { tablesWith } from '../support/tables-with.ts';

const PASSWORD = 'a horse with 9 staples';
const HOME = '203.0.113.9';
const HOTEL = '192.0.2.77';
/** Wrong passwords that one network may enter for an account in 15 minutes. */
const PER_NETWORK = 10;
/** Wrong passwords that all unknown networks together may enter for an account in an hour. */
const PER_ACCOUNT = 50;
/** Wrong passwords that one network may enter for all accounts in 15 minutes. */
const PER_SHARED_NETWORK = 100;

describe('wrong passwords of strangers', () => {
  const system = useSystem({ workers: 0, env: { TRUST_PROXY: 'loopback' } });

  const post = (path: string, body: object, address: string) =>
    anonymously<LoginResponse>(system, 'POST', path, body, { headers: { 'x-forwarded-for': address } });
  const logIn = (email: string, address: string, password = PASSWORD) =>
    post('/api/auth/login/', { email, password }, address);

  const signUpAtHome = async () => {
    const email = someEmail();
    const { body, status, text } = await post('/api/auth/signup/', { email, password: PASSWORD }, HOME);
    assert.equal(status, 201, text);
    const { access, refresh, user } = body;
    return new UserClient({ id: user.id, email, password: PASSWORD, access, refresh }, system);
  };

  let networks = 0;
  /** Guesses once from each of `times` new networks; returns the statuses in order. */
  const guessFromEverywhere = async (email: string, times: number) => {
    const statuses: number[] = [];
    for (let n = 0; n < times; n += 1) {
      networks += 1;
      const address = `2001:db8:${networks.toString(16)}::1`;
      statuses.push((await logIn(email, address, 'a wrong guess 123')).status);
    }
    return statuses;
  };

  it('wrong passwords from one network lock the account only for that network', async () => {
    const person = await signUpAtHome();
    const stranger = '198.51.100.7';
    for (let n = 0; n < PER_NETWORK; n += 1)
      assert.equal((await logIn(person.email, stranger, 'a wrong guess 123')).status, 401);
    const refused = await logIn(person.email, stranger);
    assert.deepEqual([refused.status, refused.code], [429, 'rate_limited']);
    const seconds = Number(refused.headers.get('retry-after'));
    assert.ok(seconds > 0 && seconds <= 900, `${seconds}`);
    assert.equal((await logIn(person.email, HOME)).status, 200);
    assert.equal((await logIn(person.email, HOTEL)).status, 200);
  });

  it('wrong passwords from many networks lock an account, except for networks of its earlier log-ins #lock-outs', async () => {
    const person = await signUpAtHome();
    assert.deepEqual(await guessFromEverywhere(person.email, PER_ACCOUNT + 2), [
      ...Array(PER_ACCOUNT).fill(401),
      429,
      429,
    ]);
    assert.equal((await logIn(person.email, HOTEL)).code, 'rate_limited');
    assert.equal((await logIn(person.email, HOME)).status, 200);
    // The home network can still be locked by its own wrong passwords.
    for (let n = 0; n < PER_NETWORK; n += 1)
      assert.equal((await logIn(person.email, HOME, 'a wrong guess 123')).status, 401);
    assert.equal((await logIn(person.email, HOME)).code, 'rate_limited');
  });

  it('wrong passwords from one network lock all accounts for that network, except those that logged in from it before #lock-outs', async () => {
    const person = await signUpAtHome();
    const guest = await signUpAtHome();
    const shared = '198.51.100.99';
    assert.equal((await logIn(person.email, shared)).status, 200);
    for (let n = 0; n < PER_SHARED_NETWORK; n += 1)
      assert.equal((await logIn(someEmail(), shared, 'a wrong guess 123')).status, 401);
    assert.equal((await logIn(guest.email, shared)).code, 'rate_limited');
    assert.equal((await logIn(person.email, shared)).status, 200);
  });

  it('wrong passwords for an e-mail address without an account are limited like those for an account', async () => {
    assert.deepEqual(await guessFromEverywhere(someEmail(), PER_ACCOUNT + 1), [
      ...Array(PER_ACCOUNT).fill(401),
      429,
    ]);
  });

  it('a logged-in owner can change the password from a new network despite wrong passwords of strangers', async () => {
    const person = await signUpAtHome();
    await guessFromEverywhere(person.email, PER_ACCOUNT);
    const change = { password: 'two horses with 18 staples', current_password: PASSWORD };
    const headers = { 'x-forwarded-for': HOTEL };
    const { status, text } = await person.request('PATCH', '/api/auth/me/', change, { headers });
    assert.equal(status, 200, text);
  });

  it('networks of earlier log-ins stay exempt from a lock-out during a rotation of the signing secret', async () => {
    const { email } = await signUpAtHome();
    const [old, next] = [`default:${'o'.repeat(32)}`, `b:${'n'.repeat(32)}`];
    const logInWith = async (secrets: string) => {
      const at = await system.startWeb({ JWT_SECRET: secrets });
      const headers = { 'x-forwarded-for': HOME };
      return anonymously(system, 'POST', '/api/auth/login/', { email, password: PASSWORD }, { at, headers });
    };
    assert.equal((await logInWith(`${old},${next}`)).status, 200);
    await guessFromEverywhere(email, PER_ACCOUNT);
    for (const secrets of [`${next},${old}`, next]) assert.equal((await logInWith(secrets)).status, 200);
  });

  it("the exemption of a network from a lock-out expires, and no table stores the network's address", async () => {
    const person = await signUpAtHome();
    for (const text of [HOME, person.email.replace('@', ' ')])
      assert.deepEqual(await tablesWith(system, text), []);
    await guessFromEverywhere(person.email, PER_ACCOUNT);
    assert.equal((await logIn(person.email, HOME)).status, 200);
    const rows = await system.sql(
      `update login_networks set expires_at = now() where account_id = $1 returning 1`,
      [person.id],
    );
    assert.equal(rows.length, 1);
    assert.equal((await logIn(person.email, HOME)).code, 'rate_limited');
  });
});
