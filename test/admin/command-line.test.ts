import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '../../bin/admin/command.ts';
import { appCreate, appUpdate } from '../../bin/admin/commands/app.ts';
import { backup, erasures, restore } from '../../bin/admin/commands/backup.ts';
import { COMMANDS } from '../../bin/admin/commands/index.ts';
import { keyRevoke, keyRotate } from '../../bin/admin/commands/key.ts';
import { usage } from '../../bin/admin/commands/usage.ts';
import { withDatabase } from '../../bin/admin/environment.ts';
import { helpOf } from '../../bin/admin/help.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { adminConfig } from '../../shared/config/config.ts';
import { adminResult, runAdmin } from '../support/admin.ts';

const ID = '01980000-0000-7000-8000-000000000000';

function accepts(command: Command, ...args: string[]): void {
  assert.doesNotThrow(() => command.read(args), args.join(' '));
}

function refuses(command: Command, args: string[], expected: RegExp): void {
  assert.throws(
    () => command.read(args),
    ({ message }: Error) => {
      assert.match(message, expected, args.join(' '));
      assert.doesNotMatch(message, /\n/);
      return true;
    },
  );
}

describe('command-line arguments', () => {
  it('the command line accepts a spending cap only as `none` or as a whole number of cents, up to a maximum', () => {
    for (const cents of ['0', '1', '2500', '1000000000000', 'none'])
      accepts(appCreate, '--name', 'x', '--cap-cents', cents);
    for (const cents of [
      '',
      ' 1',
      '1.0',
      '1e3',
      '0x10',
      '+1',
      '-1',
      '1,000',
      '1000000000001',
      '9'.repeat(30),
      'NaN',
    ])
      refuses(
        appCreate,
        ['--name', 'x', `--cap-cents=${cents}`],
        /^--cap-cents must be a whole number of cents/,
      );
  });

  it('the command line accepts a minimum confidence only as a decimal number from 0 to 1', () => {
    for (const value of ['0', '0.25', '1', '1.0']) accepts(appUpdate, ID, '--min-confidence', value);
    for (const value of ['', '1.01', '-0.1', '.5', '1e-1', 'Infinity', '0,5', '50%'])
      refuses(appUpdate, [ID, `--min-confidence=${value}`], /^--min-confidence must be a number from 0 to 1/);
  });

  it('the command line checks `--grace`, `--month` and `--user`, and refuses `usage` of both an app and a user', () => {
    accepts(keyRotate, ID, '--grace', '2592000');
    for (const grace of ['', '1.5', '1m', '-1', '2592001'])
      refuses(keyRotate, [ID, `--grace=${grace}`], /^--grace must be/);
    refuses(keyRotate, [ID, '--grace', '-1'], /use '--grace=-XYZ'/);
    accepts(usage, '--month', '2026-11');
    for (const month of ['', '2026-13', '2026-1', '0000-01', '26-11', '2026-11-01'])
      refuses(usage, [`--month=${month}`], /^--month must be a month as YYYY-MM/);
    accepts(usage, '--user', ID);
    accepts(usage, '--user', 'a@b.example');
    refuses(usage, ['--user', 'x'], /^the user id must be a UUID/);
    refuses(usage, [ID, '--user', ID], /^give an app or --user, not both$/);
  });

  it('the command line accepts only ASCII redirect URIs without a fragment, with https or, for loopback hosts, http', () => {
    const good = [
      'https://app.example',
      'https://app.example:8443/a/b?c=d&e=%C3%A9',
      'http://localhost/callback',
      'http://127.0.0.1:3000/x',
      'http://[::1]:3000/x',
      `https://a.example/${'x'.repeat(2030)}`,
    ];
    for (const uri of good) accepts(appCreate, '--name', 'x', '--redirect-uri', uri);
    const bad = [
      '',
      'app.example',
      'http://app.example/',
      'http://127.0.0.1.app.example/',
      'http://localhost@app.example/',
      'https://app.example/#',
      'https://app.example/#a',
      'https://app.example/a b',
      'https://app.example/\r\nx: y',
      'https://app.example/é',
      'https:app.example',
      'https://',
      'javascript:alert(1)',
      'com.example.app:/callback',
      `https://a.example/${'x'.repeat(2031)}`,
    ];
    for (const uri of bad)
      refuses(appCreate, ['--name', 'x', `--redirect-uri=${uri}`], /^--redirect-uri must be/);
  });

  it('the command line accepts only app names of 1 to 200 characters that are not blank and have no control characters', () => {
    for (const name of ['x', '💬'.repeat(200)]) accepts(appCreate, '--name', name);
    for (const name of ['', '  ', 'a\nb', '\u001b[31m', 'x'.repeat(201)])
      refuses(appCreate, [`--name=${name}`], /^--name must be 1 to 200 characters/);
  });

  it('the command line refuses missing, unknown, contradictory and invalid arguments', () => {
    refuses(appCreate, [], /^--name is missing$/);
    refuses(
      appCreate,
      ['--name', 'x', '--plan', 'free'],
      /^--plan must be one of sandbox, paid, not "free"$/,
    );
    refuses(
      appCreate,
      ['--name', 'x', '--colour', 'red'],
      /^Unknown option '--colour': the arguments are --name N/,
    );
    refuses(appCreate, ['--name', 'x', 'y'], /^"y" is one argument too many: the arguments are/);
    refuses(appCreate, ['--name'], /^Option '--name <value>' argument missing: /);
    refuses(appUpdate, ['--name', 'x'], /^APP_ID is missing$/);
    refuses(appUpdate, ['x', '--name', 'x'], /^the app id must be a UUID/);
    refuses(appUpdate, [ID], /^there is nothing to change/);
    refuses(appUpdate, [ID, '--on-disconnect', 'wait'], /^--on-disconnect must be one of continue, cancel/);
    refuses(appUpdate, [ID, '--enable', 'magic'], /^--enable must be one of predictions, connections/);
    refuses(appUpdate, [ID, '--active', '--inactive'], /^give --active or --inactive, not both$/);
    refuses(
      appUpdate,
      [ID, '--enable', 'predictions', '--disable', 'predictions'],
      /^give --enable predictions or --disable predictions, not both$/,
    );
    refuses(keyRevoke, [ID], /^--prefix is missing$/);
    for (const command of [backup, erasures, restore]) refuses(command, [''], /^FILE is missing$/);
  });
});

describe("command line's database", () => {
  const address = 'postgres://postgres:x@127.0.0.1:5433/forecue';
  let dataFolder: string;
  let file: string;

  before(async () => {
    dataFolder = await mkdtemp(join(tmpdir(), 'forecue-admin-'));
    file = join(dataFolder, 'database-url');
    await writeFile(file, `${address}\n`);
  });

  after(() => rm(dataFolder, { recursive: true }));

  it('the command line uses DATABASE_URL if the variable is set', async () => {
    const values = { DATABASE_URL: 'postgres://db.example/forecue' };
    assert.deepEqual(await withDatabase(values, file), values);
  });

  it('the command line uses the running embedded database if DATABASE_URL is not set', async () => {
    const values = { DATABASE_URL: '', DATABASE_DIRECT_URL: 'postgres://other.example/', PORT: '1' };
    const embedded = {
      DATABASE_URL: address,
      DATABASE_URL_FILE: '',
      DATABASE_DIRECT_URL: '',
      DATABASE_DIRECT_URL_FILE: '',
      PORT: '1',
    };
    assert.deepEqual(await withDatabase(values, file), embedded);
  });

  it('the command line takes PUBLIC_URL from a running `npm start` unless PUBLIC_URL is set', async () => {
    await writeFile(join(dataFolder, 'address'), 'http://127.0.0.1:8080\n');
    try {
      const [local, named] = await Promise.all([
        withDatabase({}, file),
        withDatabase({ PUBLIC_URL: 'https://forecue.example' }, file),
      ]);
      assert.equal(local['PUBLIC_URL'], 'http://127.0.0.1:8080');
      assert.equal(named['PUBLIC_URL'], 'https://forecue.example');
    } finally {
      await rm(join(dataFolder, 'address'));
    }
  });

  it('the command line never uses the embedded database in production', async () => {
    const values = { NODE_ENV: 'production' };
    assert.deepEqual(await withDatabase(values, file), values);
  });

  it('the command line says how to get a database if it finds none', async () => {
    await assert.rejects(withDatabase({}, join(dataFolder, 'none')), {
      message: 'there is no database: run `npm start` in another terminal, or set DATABASE_URL',
    });
  });

  it('the command line needs no DEFAULT_MODEL, even with an API key or in production', () => {
    const DATABASE_URL = 'postgres://127.0.0.1/forecue';
    const modelOf = (values: Record<string, string>) => adminConfig({ DATABASE_URL, ...values }).defaultModel;
    assert.equal(modelOf({}), 'local');
    assert.equal(modelOf({ OPENAI_API_KEY: 'sk-test' }), undefined);
    assert.equal(modelOf({ NODE_ENV: 'production' }), undefined);
    assert.equal(modelOf({ NODE_ENV: 'production', DEFAULT_MODEL: 'm' }), 'm');
  });
});

describe('help and output of the command line', () => {
  const admin = (...args: string[]) => runAdmin(args, {});

  it('the command line lists its commands when it is given no command or an unknown command', async () => {
    for (const { code, stdout, stderr } of await Promise.all([admin(), admin('app', 'destroy')])) {
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, /^Usage: npm run -s admin -- .*\n\n {2}app create +Create an app/);
    }
  });

  it('the command line explains all commands or one command with --help, and shows its version with --version', async () => {
    const [all, short, one, version] = await Promise.all([
      admin('--help'),
      admin('-h'),
      admin('app', 'show', '--help'),
      admin('--version'),
    ]);
    for (const { code, stderr } of [all, short, one, version]) assert.deepEqual([code, stderr], [0, '']);
    assert.match(all.stdout, /^Usage: .*\n\n {2}app create +Create an app/);
    assert.equal(short.stdout, all.stdout);
    assert.match(one.stdout, /\nUsage: .* app show APP_ID \[--json\]\n\nExample: .* app show 019/);
    assert.equal(version.stdout, `${packageJson.version}\n`);
  });

  it('each command accepts the example in its help', () => {
    for (const [name, command] of COMMANDS) {
      const [, example = ''] = /\nExample: npm run -s admin -- (.*)\n$/.exec(helpOf(name, command)) ?? [];
      assert.ok(example.startsWith(name), example);
      const words = example.slice(name.length).match(/"[^"]*"|\S+/g) ?? [];
      accepts(command, ...words.map((word) => word.replaceAll('"', '')));
    }
  });
});

const scriptFor = async (shell: string): Promise<string> =>
  (await adminResult(['completion', shell], {})).script;

/** Completes the last of these words as bash does. */
async function complete(...words: string[]): Promise<string[]> {
  const run = `COMP_WORDS=(forecue-admin "$@"); COMP_CWORD=$#; _forecue_admin; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const script = `${await scriptFor('bash')}\n${run}`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], {
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return stdout.trim().split('\n');
}

describe('shell completion', () => {
  it('shell completion completes commands, subcommands and options in bash, without a database', async () => {
    const firstWords = [...new Set([...COMMANDS.keys()].map((name) => name.split(' ')[0]))];
    assert.deepEqual(await complete(''), firstWords);
    assert.deepEqual(await complete('app', ''), ['create', 'list', 'show', 'update', 'deactivate']);
    assert.deepEqual(await complete('queue', 're'), ['resume', 'retry-failed']);
    assert.deepEqual(await complete('doctor', '--l'), ['--live']);
    assert.deepEqual(await complete('app', 'create', '--name', 'x', '--p'), ['--plan']);
    assert.deepEqual(await complete('app', 'create', '--'), [
      ...['--name', '--redirect-uri', '--native', '--owner', '--plan', '--cap-cents', '--json', '--help'],
    ]);
  });

  for (const shell of ['bash', 'zsh', 'fish'])
    it(`the ${shell} completion script contains every command`, async () => {
      const script = await scriptFor(shell);
      for (const name of COMMANDS.keys()) assert.ok(script.includes(`'${name} `), name);
    });
});
