import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { SyncResult } from '../../shared/schemas/jobs.ts';
import type { RawMemoryResponse } from '../../shared/schemas/memory.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { runAdmin } from '../support/admin.ts';
import { bareEnvironment } from '../support/environment.ts';
import { pluck } from '../support/pluck.ts';
import { countOf, recording } from '../support/recording.ts';
import { lockRow, untilLocked } from '../support/row-lock.ts';
import { useSystem } from '../support/system.ts';
import { claudeCodeFile, claudeRecord, codexFile, specStoryFile } from '../support/transcripts.ts';
import { until } from '../support/until.ts';

const MAIN = fileURLToPath(new URL('../../bin/admin/main.ts', import.meta.url));

interface Report {
  file: string;
  format: string | null;
  stored: number;
  duplicates: number;
  invalid: number;
  skipped: number;
  broken: number;
  problems: string[];
  failed: string | null;
}

interface Result {
  files: Report[];
  total: Record<'stored' | 'duplicates' | 'invalid' | 'skipped' | 'broken', number>;
  stopped: string | null;
}

describe('transcript import', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });
  let directory: string;
  let ann: UserClient;
  let sessions = 0;

  beforeEach(async () => {
    ann = await signUp(system);
    directory = await mkdtemp(join(tmpdir(), 'forecue-import-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const newSession = () => {
    sessions += 1;
    return `session-${process.pid}-${sessions}`;
  };
  const file = async (name: string, content: string) => {
    const path = join(directory, name);
    await writeFile(path, content);
    return path;
  };
  const run = (args: string[], env: Record<string, string> = {}) =>
    runAdmin(['import', ...args], { DATABASE_URL: system.database.url, ...env });
  const result = async (
    paths: string[],
    { user = ann, env }: { user?: UserClient; env?: Record<string, string> } = {},
  ) => {
    const { stdout } = await run(['--user', user.email, '--json', ...paths], env);
    return JSON.parse(stdout) as Result;
  };
  const one = async (path: string) => {
    const { files } = await result([path]);
    return files[0] ?? assert.fail('no file was reported');
  };
  const untilImportWaits = () => untilLocked(system, 'record_v1');

  it('transcripts of three formats are stored once even if imported twice, and a sync adds their events to memory', async () => {
    const [claude, codex, story] = [newSession(), newSession(), newSession()];
    // The file names do not show the format.
    const paths = await Promise.all([
      file('a', claudeCodeFile(claude)),
      file('b', codexFile(codex)),
      file('c', specStoryFile(story)),
    ]);
    // A file that is rewritten as a whole gives its last words once it has rested for a day.
    for (const path of paths) await utimes(path, 0, 0);
    const first = await result(paths);
    assert.deepEqual(
      first.files.map(({ format, stored, duplicates, invalid, failed }) => [
        format,
        stored,
        duplicates,
        invalid,
        failed,
      ]),
      [
        ['claude-code', 15, 0, 0, null],
        ['codex', 7, 0, 0, null],
        ['specstory', 7, 0, 0, null],
      ],
    );
    const again = await result(paths);
    assert.deepEqual([again.total.stored, again.total.duplicates], [0, 29]);
    assert.deepEqual(await countOf(system, ann), { events: 29, ids: 29 });

    const { body: page } = await recording.sessionEvents(ann, `codex:${codex}`);
    assert.deepEqual([page.session.source, page.session.source_detail], ['codex', '/home/ada/engine']);
    assert.equal(page.results[0]?.['project'], 'machine');
    assert.equal(page.session.ended_at, '2026-05-01T10:10:00.000Z');
    const prompt = page.results.find(({ prompt }) => prompt === 'Which database?');
    const reply = page.results.find(({ reply }) => reply === 'PostgreSQL');
    assert.equal(reply?.['in_reply_to'], prompt?.['id']);
    const { body: event } = await recording.event(ann, `claude-code:${claude}-12`);
    assert.deepEqual([event['type'], event['reply']], ['user.reply', 'yes, but split it']);

    const { body: synced } = await ann.post<SyncResult>('/api/memory/sync/', {});
    // Starts and ends of three sessions make no rows.
    assert.equal(synced.created, 29 - 6);
    const { body: raw } = await ann.get<{ results: RawMemoryResponse[] }>('/api/memory/raw/?limit=200');
    const roles = raw.results.map(
      ({ role, kind, origin, content }) => `${role} ${kind} ${origin}: ${content}`,
    );
    for (const expected of [
      'human message human: Make it faster',
      'human reply human: then commit',
      'agent prompt agent: All green.',
      'agent message agent: I measure first.',
      'human message human: use key [masked key]',
    ])
      assert.ok(roles.includes(expected), expected);
  });

  it('a second import of a transcript stores the lines that were added since the first import', async () => {
    const session = newSession();
    const record = (number: number, content: object) =>
      `${JSON.stringify(claudeRecord(session, number, content))}\n`;
    const userEntry = (content: string) => ({ type: 'user', message: { role: 'user', content } });
    const agentEntry = (words: string) => ({
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'text', text: words }] },
    });
    const path = await file('growing.jsonl', record(1, userEntry('start')) + record(2, agentEntry('Ready?')));
    // The session is over, as nothing was said for a day, so the agent's last message was a prompt.
    assert.equal((await one(path)).stored, 4);
    await appendFile(path, record(3, userEntry('ready')));
    const { stored, duplicates } = await one(path);
    // The second import adds another end of the session; the first end stays stored.
    assert.deepEqual([stored, duplicates], [2, 3]);
    const { body } = await recording.sessionEvents(ann, `claude-code:${session}`);
    const types = pluck(body.results, 'type').filter((type) => type !== 'session.stopped');
    assert.deepEqual(types, ['session.started', 'user.message', 'agent.prompt', 'user.reply']);
    assert.equal(body.session.ended_at, '2026-05-01T10:03:00.000Z');
  });

  it('an import interrupted by several SIGINTs prints its report, and a second import stores only the remaining events', async () => {
    const session = newSession();
    const count = 30_000;
    const lines = Array.from({ length: count }, (_, n) => {
      const said = {
        type: 'user',
        message: { role: 'user', content: `message ${n}` },
        timestamp: '2026-05-01T10:00:00Z',
      };
      return `${JSON.stringify(claudeRecord(session, n + 1, said))}\n`;
    });
    const path = await file('long.jsonl', lines.join(''));
    const child = spawn(process.execPath, [MAIN, 'import', '--user', ann.email, '--json', path], {
      env: { ...bareEnvironment(), DATABASE_URL: system.database.url },
    });
    const output = text(child.stdout);
    await until(async () => (await countOf(system, ann)).events > 0);
    const closed = once(child, 'close');
    const locked = await lockRow(system, 'accounts', 'lower(email) = lower($1)', [ann.email]);
    // The lock keeps the import waiting during the interrupts.
    await untilImportWaits();
    let interrupts = 0;
    await until(() => {
      child.kill('SIGINT');
      interrupts += 1;
      return interrupts === 10;
    });
    await locked.release();
    const [code] = await closed;
    const { files, stopped } = JSON.parse(await output) as Result;
    const [interrupted] = files;
    assert.deepEqual(
      [code, stopped, interrupted?.failed],
      [1, 'interrupted; the same command continues', 'interrupted'],
    );
    const { events } = await countOf(system, ann);
    assert.ok(events < count, `${events} events were stored before the interrupt`);
    assert.equal(interrupted?.stored, events);

    const { stored, duplicates } = await one(path);
    assert.equal(stored + duplicates, count + 2);
    assert.deepEqual(await countOf(system, ann), { events: count + 2, ids: count + 2 });
  });

  it('an import reports the lines that cannot be stored, and stores the other lines', async () => {
    const session = newSession();
    const userLine = (number: number, more: object) =>
      JSON.stringify(
        claudeRecord(session, number, { type: 'user', message: { content: 'a secret' }, ...more }),
      );
    const path = await file(
      'odd.jsonl',
      [
        userLine(1, { timestamp: undefined }),
        userLine(2, {}),
        '{"type":"user", a secret',
        userLine(4, { timestamp: '1999-12-31T00:00:00Z' }),
        userLine(5, { timestamp: 'yesterday' }),
        userLine(6, { timestamp: undefined }),
        userLine(7, { message: { content: `${'x'.repeat(70_000)} the end` } }),
      ].join('\r\n'),
    );
    const { stored, invalid, broken, ...report } = await one(path);
    assert.deepEqual([stored, invalid, broken], [5, 3, 1]);
    const problems = report.problems.toSorted();
    const outOfRange = 'occurred_at: Input should be from 2000-01-01 on, and at most 24 hours ahead';
    assert.deepEqual(problems.slice(1, 3), ['line 3: is broken', `line 4: ${outOfRange}`]);
    assert.match(problems[0] ?? '', /^line 1: occurred_at: /);
    assert.match(problems[3] ?? '', /^line 5: occurred_at: /);
    assert.doesNotMatch(problems.join(), /secret/);
    const { body } = await recording.sessionEvents(ann, `claude-code:${session}`);
    const [, second, sixth, seventh] = body.results;
    // An event without a time takes the time of the event before it.
    assert.equal(sixth?.['occurred_at'], second?.['occurred_at']);
    const cut = String(seventh?.['text']);
    assert.deepEqual([cut.length, cut.endsWith('x the end')], [64_000, true]);
  });

  it('an import of a directory skips files that are not transcripts; such a file, imported by name, is reported', async () => {
    const session = newSession();
    await mkdir(join(directory, 'project', 'deep'), { recursive: true });
    await file('project/deep/x.jsonl', claudeCodeFile(session));
    await file('project/settings.json', '{"theme":"dark"}');
    const other = await file('notes.md', '# Notes\n');
    const { files, total } = await result([join(directory, 'project'), other, join(directory, 'nowhere')]);
    assert.deepEqual(
      files.map(({ file: path, format, stored }) => [path.slice(directory.length), format, stored]),
      [
        ['/project/deep/x.jsonl', 'claude-code', 15],
        ['/notes.md', null, 0],
        ['/nowhere', null, 0],
      ],
    );
    assert.equal(total.stored, 15);
    assert.match(files[1]?.failed ?? '', /no known format; known are: Claude Code session.*SpecStory/);
    assert.match(files[2]?.failed ?? '', /ENOENT/);
  });

  it('an import of a directory reports a file that is deleted during the import, and imports the other files', async () => {
    await file('a.jsonl', claudeCodeFile(newSession()));
    const gone = await file('b.jsonl', claudeCodeFile(newSession()));
    const locked = await lockRow(system, 'accounts', 'lower(email) = lower($1)', [ann.email]);
    const importing = result([directory]);
    await untilImportWaits();
    await rm(gone);
    await locked.release();
    const { files } = await importing;
    assert.deepEqual(pluck(files, 'stored'), [15, 0]);
    assert.match(files[1]?.failed ?? '', /ENOENT/);
  });

  it('an import refuses pipes and devices, and imports the other files', async () => {
    const pipe = join(directory, 'pipe.jsonl');
    execFileSync('mkfifo', [pipe]);
    const path = await file('a', claudeCodeFile(newSession()));
    const { files } = await result([pipe, '/dev/zero', path]);
    assert.deepEqual(
      files.map(({ stored, failed }) => [stored, failed]),
      [
        [0, 'it is not a regular file'],
        [0, 'it is not a regular file'],
        [15, null],
      ],
    );
  });

  it('an import prints a table with a row per file, and exits with 1 if a file cannot be read', async () => {
    const path = await file('a', claudeCodeFile(newSession()));
    const { code, stdout, stderr } = await run([
      '--user',
      ann.email.toUpperCase(),
      path,
      join(directory, 'b'),
    ]);
    assert.deepEqual([code, stderr], [1, '']);
    const [head, first, second, total, note] = stdout.split('\n');
    assert.match(head ?? '', /^file +format +stored +duplicates +invalid +skipped +unread +broken$/);
    assert.match(first ?? '', / claude-code +15 +0 +0 +7 +0 +0$/);
    assert.match(second ?? '', / none +0 +0 +0 +0 +0 +0$/);
    assert.match(total ?? '', /^total +15 +0 +0 +7 +0 +0$/);
    assert.match(note ?? '', /b: ENOENT/);
  });

  it("an import stops at the account's quota, and goes on when there is room", async () => {
    const session = newSession();
    const path = await file('a', claudeCodeFile(session));
    const other = await file('b', codexFile(newSession()));
    const full = await result([path, other], { env: { QUOTA_EVENTS: '5' } });
    assert.match(
      full.stopped ?? '',
      /quota is exceeded: 0 of 5 events are used, and 15 more would be needed/,
    );
    assert.deepEqual([full.files.length, full.total.stored], [1, 0]);

    assert.equal((await one(path)).stored, 15);
  });

  it('people of a team import the same files, and each of them again when they have grown', async () => {
    const bob = await signUp(system);
    const session = newSession();
    const path = await file('a', claudeCodeFile(session));
    const imported = async (user: UserClient) => {
      const { total } = await result([path], { user });
      return [total.stored, total.duplicates, total.invalid];
    };
    assert.deepEqual(await imported(ann), [15, 0, 0]);
    assert.deepEqual(await imported(bob), [15, 0, 0]);
    const more = { type: 'user', message: { role: 'user', content: 'by the way' } };
    await appendFile(
      path,
      JSON.stringify(claudeRecord(session, 99, { ...more, timestamp: '2026-05-02T10:00:00Z' })),
    );
    for (const user of [ann, bob]) {
      assert.deepEqual(await imported(user), [2, 14, 0]);
      const { body } = await user.get<{ results: { session_id: string }[] }>('/api/recording/sessions/');
      assert.equal(body.results.length, 1);
      assert.ok(body.results[0]?.session_id.startsWith(`claude-code:${session}`));
    }
  });

  it('an import reports invalid arguments in one line', async () => {
    const refusals: [string[], RegExp][] = [
      [['--user', 'nobody@example.com', 'a'], /^there is no active user with this e-mail address: /],
      [['a'], /^--user is missing$/],
      [['--user', ann.email], /^FILE is missing$/],
    ];
    for (const [args, message] of refusals) {
      const { code, stdout, stderr } = await run(args);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr.trim(), message);
    }
  });
});
