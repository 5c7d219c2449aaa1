import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { newId } from '../../shared/ids.ts';
import { signUp } from '../support/account.ts';
import { runAdmin } from '../support/admin.ts';
import { createDatabase } from '../support/database.ts';
import { bareEnvironment } from '../support/environment.ts';
import { useServer } from '../support/listening.ts';
import { useSystem } from '../support/system.ts';
import { claudeCodeFile, claudeRecord } from '../support/transcripts.ts';

/** A title, a line of its own, C1's clear-screen, a mark that reverses what follows. */
const HOSTILE = 'a\u001b]0;b\u0007\nforged\u009b2J\u202ec';
const VISIBLE = 'a\\u{1b}]0;b\\u{7}\\u{a}forged\\u{9b}2J\\u{202e}c';
const CLIENT = fileURLToPath(new URL('../../client/bin/main.ts', import.meta.url));

describe('what commands print', () => {
  const system = useSystem();
  /** Answers every call with hostile texts, in all the fields that commands read. */
  const hostile = useServer(
    createServer((request, response) => {
      response.statusCode = request.url === '/api/auth/me/' ? 200 : 400;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ email: HOSTILE, detail: { code: HOSTILE, message: HOSTILE } }));
    }),
  );
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'forecue-terminal-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  const store = async (content: string | Buffer, name = HOSTILE, folder = home) => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), content);
    return join(folder, name);
  };
  const brokenTranscript = () => store(`${claudeCodeFile(newId())}{\n`, `${HOSTILE}.jsonl`);
  const admin = (...args: string[]) => runAdmin(args, system.env);
  const client = async (args: string[], input = '') => {
    const connection = { FORECUE_URL: hostile.url, FORECUE_KEY: 'service_x' };
    const child = spawn(process.execPath, [CLIENT, ...args], {
      env: { ...bareEnvironment(), HOME: home, ...connection },
    });
    child.stdin.end(input);
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { stdout, stderr };
  };

  const commands: [string, () => Promise<{ stdout: string; stderr: string }>][] = [
    [
      '`admin import` of a file',
      async () => admin('import', '--user', (await signUp(system)).email, await brokenTranscript()),
    ],
    ['`admin backup` to a new file', () => admin('backup', join(home, HOSTILE))],
    ['`admin backup` to an existing file', async () => admin('backup', await store(''))],
    ['`admin restore` of a missing file', () => admin('restore', join(home, HOSTILE))],
    [
      '`admin restore` of a file with another version',
      async () => {
        const empty = await createDatabase();
        const manifest = JSON.stringify({ version: HOSTILE, migrations: [] });
        const file = await store(gzipSync(`${manifest}\n`), 'a.backup');
        try {
          return await runAdmin(['restore', file], { ...system.env, DATABASE_URL: empty.url });
        } finally {
          await empty.drop();
        }
      },
    ],
    [
      'a command with a setting in a missing file',
      () =>
        runAdmin(['app', 'list'], {
          ...system.env,
          DATABASE_URL: '',
          DATABASE_URL_FILE: join(home, HOSTILE),
        }),
    ],
    ['`admin doctor --live` of a server', () => admin('doctor', '--live', '--url', hostile.url)],
    ['`admin demo` of a server', () => admin('demo', '--url', hostile.url)],
    [
      '`forecue record` of transcripts and a server',
      async () => {
        const words = `${HOSTILE}, password: hunter2`;
        const line = claudeRecord(newId(), 1, { type: 'user', message: { role: 'user', content: words } });
        await store(`${JSON.stringify(line)}\n`, 'a.jsonl', join(home, '.claude/projects/engine'));
        return client(['record']);
      },
    ],
    [
      '`forecue record PATH` of a file and a server',
      async () => client(['record', await brokenTranscript()]),
    ],
  ];
  for (const [command, run] of commands)
    it(`what ${command} prints has no control characters of theirs and no line of their choice`, async () => {
      const { stdout, stderr } = await run();
      const printed = stdout + stderr;
      assert.ok(printed.includes(VISIBLE.slice(VISIBLE.indexOf('forged'))), printed);
      assert.doesNotMatch(printed.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      assert.doesNotMatch(printed, /^forged/m);
    });

  it("the message of Claude Code's hook about a failed recording shows a server's control characters escaped", async () => {
    await store(
      JSON.stringify({ path: '/a', isOver: false, why: HOSTILE }),
      'a',
      join(home, '.forecue/unsent'),
    );
    const { stdout } = await client(['hook'], JSON.stringify({ transcript_path: join(home, 'none') }));
    assert.equal(JSON.parse(stdout).systemMessage, `Forecue did not record: ${VISIBLE}`);
  });

  it('`admin --json` prints the same data without control characters', async () => {
    const email = `${newId()}@example.com`;
    const { stdout } = await admin(
      'user',
      'create',
      '--email',
      email,
      '--name',
      `${HOSTILE}\u{e0041}`,
      '--json',
    );
    assert.doesNotMatch(stdout.trimEnd(), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    assert.equal(JSON.parse(stdout).name, `${HOSTILE}\u{e0041}`);
  });
});
