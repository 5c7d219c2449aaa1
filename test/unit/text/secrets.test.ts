import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { newAppKey } from '../../../shared/security/keys.ts';
import { maskSecrets } from '../../../shared/text/secrets.ts';

const random = (length: number) => randomBytes(length).toString('hex').slice(0, length);
const upper = (length: number) => random(length).toUpperCase();
const jwt = `eyJ${random(20)}.eyJ${random(40)}.${random(43)}`;
const pem = (end: string) => `-----BEGIN RSA PRIVATE KEY-----\nMIIE${random(64)}\n${random(64)}\n${end}`;

describe('masking credentials', () => {
  const credentials: [string, string][] = [
    ['a private key', pem('-----END RSA PRIVATE KEY-----')],
    ['a private key without its end', pem('')],
    ['a JWT', jwt],
    ['an OpenAI key', `sk-proj-A1${random(40)}`],
    ['an Anthropic key', `sk-ant-api03-A1${random(40)}-AA`],
    ['a Stripe key', `sk_live_${random(24)}`],
    ['a GitHub token', `ghp_${random(36)}`],
    ['a fine-grained GitHub token', `github_pat_${random(22)}_${random(59)}`],
    ['an npm token', `npm_${random(36)}`],
    ['a GitLab token', `glpat-${random(20)}`],
    ['a Slack token', `xoxb-${random(12)}-${random(24)}`],
    ['an AWS key id', `AKIA${upper(16)}`],
    ['a Google key', `AIza${random(35)}`],
    ['a bearer token', random(40)],
  ];

  it('masking credentials replaces the password in a URL, and keeps the rest of the URL', () => {
    const text = maskSecrets(
      'psql postgres://ada:hunter2@db.example:5432/engine, see https://example.com/a:b@c',
    );
    assert.equal(
      text,
      'psql postgres://ada:[masked password]@db.example:5432/engine, see https://example.com/a:b@c',
    );
  });

  it('masking credentials replaces a value that is labelled as a password', () => {
    const texts: [string, string][] = [
      ['log in with password: hunter2 and go', 'log in with password: [masked password] and go'],
      ['DB_PASSWORD=a,b;c', 'DB_PASSWORD=[masked password]'],
      ['{"user":"ada","password":"correct horse"}', '{"user":"ada","password":[masked password]}'],
      ["passwd = 'correct horse';", 'passwd = [masked password];'],
      ['**Passwort:** geheim', '**Passwort:** [masked password]'],
      ['my password is: hunter2, mine', 'my password is: [masked password] mine'],
      ['mein Passwort ist jetzt hunter2', 'mein Passwort ist jetzt [masked password]'],
      ['the password is now required', 'the password is now required'],
      ['the PIN is: 4711', 'the PIN is: [masked password]'],
      [`password: sk-proj-A1${random(40)}`, 'password: [masked key]'],
    ];
    for (const [text, expected] of texts) assert.equal(maskSecrets(text), expected);
  });

  it('masking credentials replaces a value that an arrow assigns to a password, and leaves arrow functions unchanged', () => {
    const texts: [string, string][] = [
      ["'password' => 'correct horse',", "'password' => [masked password],"],
      [':api_key => "zanzibar"', ':api_key => [masked key]'],
      ['{"password"=>"hunter2"}', '{"password"=>[masked password]}'],
      ['[password] => hunter2', '[password] => [masked password]'],
      ['(password) => { check(password) }', '(password) => { check(password) }'],
      ['const f = secret => sign(secret)', 'const f = secret => sign(secret)'],
    ];
    for (const [text, expected] of texts) {
      assert.equal(maskSecrets(text), expected);
      assert.equal(maskSecrets(expected), expected);
    }
  });

  it('masking credentials replaces every IBAN whose length and check digits are right, however the IBAN is grouped', () => {
    for (const iban of [
      'DE89 3704 0044 0532 0130 00',
      'DE89370400440532013000',
      'de89 3704 0044 0532 0130 00',
      'GB29 NWBK 6016 1331 9268 19',
      'FR14 2004 1010 0505 0001 3M02 606',
      'NO93 8601 1117 947',
      'BE68 5390 0754 7034',
      'NL91 ABNA 0417 1643 00',
      'CH93 0076 2011 6238 5295 7',
      'ES91 2100 0418 4502 0005 1332',
      'PL61\u00a01090\u00a01014\u00a00000\u00a00712\u00a01981\u00a02874',
      'MT84MALT011000012345MTLCAST001S',
    ])
      for (const [before, after] of [
        ['my account is ', ' IN TOTAL'],
        ['IBAN:', '.'],
        ['', ''],
      ] as const)
        assert.equal(maskSecrets(`${before}${iban}${after}`), `${before}[masked account number]${after}`);
  });

  it('masking credentials leaves texts without credentials unchanged', () => {
    for (const text of [
      'commit 3f786850e387550fdab836ed7e6dc881de23001b',
      'class="sk-folding-cube-with-a-long-name"',
      'the ghp_ prefix, sk- and AKIA',
      '-----BEGIN PUBLIC KEY-----\nMFww\n-----END PUBLIC KEY-----',
      'service_account_of_the_engine, fc_test',
      'at 12:30@home',
      'getUserById2FromDatabaseAsync in src/components/Button2/IndexPage',
      'order 4111 1111 1111 1112 at 1700000000000',
      'DE88 3704 0044 0532 0130 00, DE89 3704 0044 0532 0130 0, XDE89370400440532013000',
      // An id and a hash that have the length, country and check digits of an IBAN by accident.
      '01a21a84-bc5e-7c03-be12-10000016f562',
      'be1210000016f562',
      // An id whose first groups are a card number by accident.
      '47357949-9839-4540-b390-a80419fd4fbe',
      'the secret is that there is none, my password is wrong',
      'const secret: string;',
      'I use 1password, see https://example.com/a/b',
      'the password is long, and the passwords: none',
      'password:\n- at least 10 characters',
    ])
      assert.equal(maskSecrets(text), text);
  });

  it('masking credentials replaces an app key', () => {
    const { key } = newAppKey();
    assert.equal(maskSecrets(`key=${key}.`), 'key=[masked key].');
  });

  it('masking credentials does not change a text that is already masked', () => {
    const part = fc.oneof(
      fc.string(),
      fc.constantFrom(
        ...credentials.map(([, secret]) => secret),
        '://a:b@',
        'Bearer ',
        'password:',
        'password="',
        "password: 'a",
        'wachtwoord is hond42',
        'пароль',
        '密码：',
        '密码是mima42',
        'DB_PASS=',
        'GH_TOKEN=',
        '--password',
        'cookie: a=b',
        'JSESSIONID=',
        'authorization: sunflower',
        'name: password\nvalue: ',
        '| password | ',
        'passphrase: ',
        'otp: ',
        'echo a | sudo -S',
        'curl -u ann:',
        'mysql -p',
        'password: |\n ',
        'pwd:\n',
        'machine a login b password',
        'creds are a:',
        'parola d’ordine:',
        'my password is ',
        'secret=',
        'api key is',
        'authorization: basic abcdef',
        'PIN: 1234',
        '4111 1111 1111 1111',
        'DE89 3704 0044 0532 0130 00',
        'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA',
      ),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const once = maskSecrets(parts.join(' '));
        assert.equal(maskSecrets(once), once);
      }),
    );
  });

  it('masking credentials takes seconds at most for 200,000 hostile characters', () => {
    const starts = [
      '-----BEGIN PRIVATE KEY-----',
      'eyJaaaaaaaaa.',
      'eyJ-',
      'sk-a',
      '://a:',
      'Bearer ',
      'ghp_a',
      'xoxb-',
      'password:',
      'password: "',
      'password is ',
      'password: password ',
      'api_key=',
      'authorization: basic ',
      'eyJaaaaaaaaa.a.',
      '4',
      '4 ',
      'DE89 3',
      'de89',
      'aB3',
      'aB3/',
      'service_',
      'wachtwoord is ',
      'hasło: ',
      'пароль ',
      'пароль: ',
      '密码',
      '密码：a',
      'password:\n',
      'password: |\n ',
      'pwd ',
      'a_pass',
      'A_',
      'A_TOKEN',
      'A_TOKEN ',
      '--a-',
      '--password ',
      'curl ',
      'curl -u a:',
      'mysql -p',
      'docker login ',
      'machine a login a ',
      'credentials: a',
      'pat-na1-',
      'key-a',
      'password for a ',
      'wachtwoord a ',
      'password (a',
      '|password',
      '|a|password|\n|--|--|\n',
      'password,a\n',
      'name: password ',
      'name: password\nvalue: ',
      '<password>a',
      '<a name="password">',
      'password: a = ',
      'cookie: a=',
      'authorization: a ',
      'https://a',
      'otp 1 ',
      'mnemonic: abc ',
      'abc ',
      'ABC2 ',
      'echo a:a ',
      'htpasswd -b a ',
      'set password ',
      'identified with a ',
      'a\u00ad',
    ];
    for (const start of starts) {
      const began = performance.now();
      maskSecrets(start.repeat(200_000 / start.length));
      assert.ok(performance.now() - began < 10_000, start);
    }
  });
});
