import assert from 'node:assert/strict';
import { createInvite } from '../../../shared/db/stores/invites.ts';
import type { LoginResponse } from '../../../shared/schemas/accounts.ts';
import { anonymously, signUp, someEmail } from '../../support/account.ts';
import { pluck } from '../../support/pluck.ts';
import { useSystem } from '../../support/system.ts';

const PASSWORD = 'a horse with 9 staples';

describe('signing up', () => {
  const system = useSystem({ workers: 0 });

  const post = (body: object) => anonymously<LoginResponse>(system, 'POST', '/api/auth/signup/', body);

  /** Returns the only validation error of a refused body. */
  const validationErrorOf = async (body: object) => {
    const { status, text } = await post(body);
    assert.equal(status, 422, text);
    const { detail } = JSON.parse(text);
    assert.equal(detail.length, 1, text);
    return detail[0];
  };

  it('signing up creates an account and logs it in', async () => {
    const email = someEmail();
    const { status, body } = await post({ email, password: PASSWORD, name: 'Ada Lovelace' });
    assert.equal(status, 201);
    const { access, refresh, user, ...rest } = body;
    assert.deepEqual(rest, {});
    assert.match(user.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    assert.match(user.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(user, { id: user.id, email, name: 'Ada Lovelace', created_at: user.created_at });
    assert.match(refresh, /^[\w-]{43}$/);
    const headers = { authorization: `Bearer ${access}` };
    const me = await anonymously(system, 'GET', '/api/auth/me/', undefined, { headers });
    assert.deepEqual({ status: me.status, body: me.body }, { status: 200, body: user });
  });

  it('signing up stores the password and the refresh token only as hashes, and logs neither', async () => {
    const { id, refresh } = await signUp(system, { password: PASSWORD });
    const rows = await system.sql(
      `select password_hash, (select count(*)::int from refresh_tokens t where t.account_id = a.id and t.hash = sha256($2::bytea))
         as hashed from accounts a where id = $1`,
      [id, refresh],
    );
    assert.match(rows[0]?.['password_hash'], /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.equal(rows[0]?.['hashed'], 1);
    assert.ok(!webLog().includes(PASSWORD) && !webLog().includes(refresh));
  });

  const webLog = () => pluck(system.webs, 'log').join('');

  it('signing up defaults the name to empty, and stores the e-mail address trimmed and in NFC', async () => {
    const { body } = await post({ email: '  Zoe\u0308@Example.com ', password: PASSWORD });
    assert.equal(body.user.name, '');
    assert.equal(body.user.email, 'Zo\u00eb@Example.com');
  });

  it('signing up with a taken e-mail address is 409, even if it is written in another letter case or Unicode form', async () => {
    await post({ email: 'caf\u00e9@example.com', password: PASSWORD });
    for (const email of ['caf\u00e9@example.com', 'CAFE\u0301@EXAMPLE.COM', ' Caf\u00e9@example.COM\t']) {
      const { status, body } = await post({ email, password: PASSWORD });
      const expected = { code: 'email_taken', message: 'An account with this e-mail address exists.' };
      assert.deepEqual({ status, body }, { status: 409, body: { detail: expected } });
    }
  });

  it('sign-up and log-in treat full-width, decomposed and Punycode spellings of an e-mail domain as equal', async () => {
    const signUpAt = async (domain: string) => {
      const { status, body } = await post({ email: `ada@${domain}`, password: PASSWORD });
      return status === 201 ? body.user.id : status;
    };
    const spellings = [
      ['width.example.com', 'ｗｉｄｔｈ.EXAMPLE.com', 'ⓦidth。example.com'],
      ['m\u00fcller.example', 'mu\u0308ller.example', 'M\u00dcLLER.example', 'xn--mller-kva.example'],
    ];
    for (const [first = '', ...others] of spellings) {
      const id = await signUpAt(first);
      for (const domain of others) {
        assert.equal(await signUpAt(domain), 409, domain);
        const { body } = await anonymously<LoginResponse>(system, 'POST', '/api/auth/login/', {
          email: `Ada@${domain}`,
          password: PASSWORD,
        });
        assert.equal(body.user.id, id);
      }
    }
    // Text that is not a valid domain stays unchanged.
    const [one, other] = [await signUpAt('odd.example/a'), await signUpAt('odd.example')];
    assert.notEqual(one, other);
  });

  it('only one of many concurrent sign-ups with the same e-mail address succeeds', async () => {
    const email = someEmail();
    const replies = await Promise.all(Array.from({ length: 8 }, () => post({ email, password: PASSWORD })));
    assert.deepEqual(pluck(replies, 'status').sort(), [201, ...Array(7).fill(409)]);
  });

  it('signing up refuses an invalid e-mail address, a password of the wrong length, and unknown fields', async () => {
    const email = someEmail();
    for (const wrong of [
      '',
      'ada',
      'ada@',
      '@example.com',
      'a b@example.com',
      'ada@example',
      'a@b@example.com',
    ]) {
      const { loc, type, input } = await validationErrorOf({ email: wrong, password: PASSWORD });
      assert.deepEqual({ loc, type, input }, { loc: ['body', 'email'], type: 'value_error', input: wrong });
    }
    // Invisible characters: nobody could tell these addresses from others.
    for (const unseen of '\u00ad\u034f\u115f\u1160\u17b4\u180b\u200b\u200d\u2060\u2800\u3164\ufe0f\uffa0\u{e0061}')
      for (const wrong of [
        `ad${unseen}a@example.com`,
        `ada@exam${unseen}ple.com`,
        `ada@example.com${unseen}`,
      ])
        assert.equal(
          (await validationErrorOf({ email: wrong, password: PASSWORD })).type,
          'value_error',
          wrong,
        );
    const long = `${'a'.repeat(243)}@example.com`;
    assert.equal((await validationErrorOf({ email: long, password: PASSWORD })).type, 'string_too_long');
    for (const short of ['123456789', '\u{1f40e}\u{1f984}'.repeat(4)])
      assert.equal((await validationErrorOf({ email, password: short })).type, 'string_too_short');
    assert.equal(
      (await validationErrorOf({ email, password: '\u{1f40e}'.repeat(201) })).type,
      'string_too_long',
    );
    assert.equal((await validationErrorOf({ email, password: `nul\0${PASSWORD}` })).type, 'value_error');
    assert.equal((await validationErrorOf({ email, password: null })).type, 'string_type');
    assert.equal(
      (await validationErrorOf({ email, password: PASSWORD, admin: true })).type,
      'extra_forbidden',
    );
    assert.equal((await validationErrorOf({ email })).type, 'missing');
  });

  it('validation errors below /api/auth/ do not repeat unknown properties or a body that is not an object', async () => {
    const secret = 'hunter2-hunter2';
    const paths = ['signup/', 'login/', 'token/refresh/', 'invite/validate/', 'waitlist/'];
    for (const path of paths)
      for (const body of [{ pwd: secret, email: someEmail() }, secret]) {
        const text = JSON.stringify(body);
        const reply = await anonymously(system, 'POST', `/api/auth/${path}`, text);
        assert.equal(reply.status, 422, reply.text);
        assert.ok(!reply.text.includes(secret), reply.text);
      }
  });

  it('signing up accepts passwords of 10 to 200 emoji', async () => {
    for (const pairs of [5, 100]) {
      const password = '\u{1f40e}\u{1f984}'.repeat(pairs);
      assert.equal((await post({ email: someEmail(), password })).status, 201);
    }
  });

  it('signing up refuses passwords that are easy to guess, and does not repeat them in the answer', async () => {
    const email = 'a.long.address@example.com';
    const easy = [
      'password123',
      'Summer2027!',
      'welcome2027',
      '!!letmein2026',
      'passwordpass',
      'abcabcabcabc',
      'trustno1trustno1',
      'PassWord123',
      'pass word 1234',
      'hello-world',
      'Hallo12345',
      'Sommer2026!',
      'Januar2026',
      'Février-2026',
      'lunes12345',
      'qwertyuiop',
      'aaaaaaaaaaaa',
      'abcdefghij',
      '9876543210',
      email,
      email.split('@')[0] ?? '',
    ];
    for (const password of easy) {
      const { loc, type, ...rest } = await validationErrorOf({ email, password });
      assert.deepEqual({ loc, type }, { loc: ['body', 'password'], type: 'value_error' }, password);
      assert.ok(!('input' in rest));
    }
  });

  it('the waitlist stores an e-mail address once, and gives the same answer each time it is added', async () => {
    const email = someEmail();
    interface Version extends Record<string, unknown> {
      email: string;
      version: string;
    }
    const versions: Version[] = [];
    for (const written of [email, email.toUpperCase(), ` ${email}`]) {
      const { status, body, tookMs } = await anonymously(system, 'POST', '/api/auth/waitlist/', {
        email: written,
      });
      assert.deepEqual({ status, body }, { status: 200, body: { status: 'added' } });
      // A known address gets its answer no faster, since that would reveal who is on the list.
      assert.ok(tookMs > 19, `${tookMs}`);
      const rows = await system.sql<Version>(
        'select email, created_at, xmin as version from waitlist where email_key = $1',
        [email],
      );
      versions.push(...rows);
    }
    assert.equal(versions.length, 3);
    const [first, ...later] = versions;
    assert.equal(first?.email, email);
    for (const row of later) assert.deepEqual({ ...row, version: first?.version }, first);
    // The row is written each time: on a slow disk, a skipped write would make the answer faster.
    assert.equal(new Set(pluck(versions, 'version')).size, 3);
    assert.equal((await anonymously(system, 'POST', '/api/auth/waitlist/', { email: 'nobody' })).status, 422);
  });

  it('signing up takes the e-mail address off the waitlist, even if it was added there in upper case', async () => {
    const [email, other] = [someEmail(), someEmail()];
    for (const written of [email.toUpperCase(), other])
      await anonymously(system, 'POST', '/api/auth/waitlist/', { email: written });
    await signUp(system, { email });
    const rows = await system.sql('select email from waitlist where email_key = any ($1::text[])', [
      [email, other],
    ]);
    assert.deepEqual(rows, [{ email: other }]);
  });

  it('signing up neither checks nor uses up an invite code when none is required', async () => {
    const code = await createInvite(system.em());
    assert.equal((await post({ email: someEmail(), password: PASSWORD, invite_code: code })).status, 201);
    assert.equal(
      (await post({ email: someEmail(), password: PASSWORD, invite_code: 'nonsense' })).status,
      201,
    );
    const valid = await anonymously(system, 'POST', '/api/auth/invite/validate/', { code });
    assert.deepEqual(valid.body, { valid: true });
  });

  describe('by invitation only', () => {
    let web: { url: string };
    let codes: string[];

    before(async () => {
      web = await system.startWeb({ INVITE_ONLY: 'true' });
      codes = await Promise.all([createInvite(system.em()), createInvite(system.em())]);
    });

    const join = (part: object) =>
      anonymously(
        system,
        'POST',
        '/api/auth/signup/',
        { email: someEmail(), password: PASSWORD, ...part },
        { at: web },
      );
    const isValid = async (code = '') =>
      (
        await anonymously<{ valid: boolean }>(
          system,
          'POST',
          '/api/auth/invite/validate/',
          { code },
          { at: web },
        )
      ).body;

    it('invitation-only sign-up answers 403 to a missing or unknown code, even for a taken e-mail address', async () => {
      const { email } = await signUp(system);
      for (const part of [{}, { invite_code: 'unknown' }, { invite_code: '' }, { email }]) {
        const { status, code } = await join(part);
        assert.deepEqual({ status, code }, { status: 403, code: 'invite_required' });
      }
      assert.deepEqual(await isValid('unknown'), { valid: false });
    });

    it('invitation-only sign-up accepts an invite code once, even if six people use it concurrently', async () => {
      const [code = ''] = codes;
      assert.deepEqual(await isValid(code), { valid: true });
      const replies = await Promise.all(Array.from({ length: 6 }, () => join({ invite_code: code })));
      assert.deepEqual(pluck(replies, 'status').sort(), [201, ...Array(5).fill(403)]);
      assert.deepEqual(await isValid(code), { valid: false });
      assert.equal((await join({ invite_code: code })).code, 'invite_required');
    });

    it('invitation-only sign-up leaves an invite code unused if no account was created', async () => {
      const [, code = ''] = codes;
      const { email } = await signUp(system);
      assert.equal((await join({ invite_code: code, email })).code, 'email_taken');
      assert.equal((await join({ invite_code: code, password: 'password123' })).status, 422);
      assert.deepEqual(await isValid(code), { valid: true });
      assert.equal((await join({ invite_code: code })).status, 201);
    });
  });
});
