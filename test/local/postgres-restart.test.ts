import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { preparePostgresHome, run } from '../../bin/start/postgres-home.ts';
import { AppClient, predictionBody } from '../support/client.ts';
import { bareEnvironment } from '../support/environment.ts';
import { query, untilRefused } from '../support/one-query.ts';
import { until } from '../support/until.ts';

const START = resolve(import.meta.dirname, '../../bin/start/main.ts');
const BACK_WITHIN_MS = 5000;

describe('restart of PostgreSQL', () => {
  let directory: string;
  let forecue: NpmStart;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'forecue-start-'));
  });
  beforeEach(async () => {
    forecue = await new NpmStart(directory).ready();
  });
  afterEach(async () => {
    await forecue.stop('SIGINT');
  });
  after(async () => {
    const postgres = await realpath(join(directory, 'postgres'));
    for (const path of [postgres, directory]) await rm(path, { recursive: true, force: true });
  });

  it('npm start restarts its PostgreSQL within 5 s of each SIGKILL, still replays an earlier answer, and reports the restart #own-postgres', async () => {
    const body = predictionBody();
    const first = await forecue.app.predict(body);
    assert.equal(first.status, 200);
    const url = await forecue.databaseUrl();

    for (const time of [1, 2]) {
      process.kill(await forecue.postmaster(), 'SIGKILL');
      await forecue.predictsAgain();
      assert.equal((await forecue.app.predict(body)).text, first.text);
      await until(() => count(forecue.output, /^PostgreSQL is back after \d\.\d s$/gm) === time);
      assert.equal(count(forecue.output, /^PostgreSQL stopped unexpectedly \(SIGKILL\); starting/gm), time);
    }
    assert.equal(await forecue.databaseUrl(), url);
    assert.doesNotMatch(forecue.output, /^(web|worker) ended/m);
  });

  it('npm start restarts its PostgreSQL even if a statement of the dead server still runs', async () => {
    const client = new pg.Client(await forecue.databaseUrl());
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid ?? 0;
    const endless = client.query('do $$ begin loop end loop; end $$').catch(() => undefined);
    try {
      await until(
        async () =>
          (await forecue.query(`select state from pg_stat_activity where pid = ${pid}`)) === 'active',
      );
      process.kill(await forecue.postmaster(), 'SIGKILL');
      await forecue.predictsAgain();
      await endless;
    } finally {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    }
  });

  it('npm start restarts its PostgreSQL when pg_ctl stops it', async () => {
    const { programs, account, folder } = await preparePostgresHome(join(directory, 'postgres'));
    const args = ['stop', '-m', 'fast', '-W', '-D', join(folder, 'data')];
    assert.ok((await run(programs.pg_ctl, args, account)).ok);
    await until(() => /^PostgreSQL stopped unexpectedly \(exit code 0\)/m.test(forecue.output));
    await forecue.predictsAgain();
  });

  it('npm start reports why its PostgreSQL does not start, keeps trying, and reports when the server runs again', async () => {
    const control = join(directory, 'postgres/data/global/pg_control');
    const postmaster = await forecue.postmaster();
    await rename(control, `${control}.aside`);
    try {
      process.kill(postmaster, 'SIGKILL');
      await until(
        () =>
          /^PostgreSQL did not start \(exit code \d\): see .*\n(?:.*\n)*?.*pg_control/m.test(forecue.output),
        20_000,
      );
    } finally {
      await rename(`${control}.aside`, control);
    }
    await until(() => /^PostgreSQL is back after/m.test(forecue.output), 20_000);
    await forecue.predictsAgain();
    assert.doesNotMatch(forecue.output, /^(web|worker) ended/m);
  });

  it('npm start can be stopped while it restarts its PostgreSQL, and then leaves no server running', async () => {
    const url = await forecue.databaseUrl();
    process.kill(await forecue.postmaster(), 'SIGKILL');
    await until(() => forecue.output.includes('PostgreSQL stopped unexpectedly'));
    await forecue.stop('SIGINT');
    assert.match(forecue.output, /\nStopped\.\n$/);
    await untilRefused(url);
  });

  it('npm start leaves no server running when it is killed after a PostgreSQL restart', async () => {
    const url = await forecue.databaseUrl();
    process.kill(await forecue.postmaster(), 'SIGKILL');
    await until(() => forecue.output.includes('PostgreSQL is back'));
    await forecue.stop('SIGKILL');
    await untilRefused(url);
  });
});

class NpmStart {
  readonly #child: ChildProcess;
  readonly #directory: string;
  output = '';
  app = new AppClient('', '', '');

  constructor(directory: string) {
    this.#directory = directory;
    this.#child = spawn(process.execPath, [START, directory], {
      env: { ...bareEnvironment(), PORT: '0', OPERATOR_PORT: '0', RATE_LIMIT_RPS: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk) => {
        this.output += chunk;
      });
  }

  async ready(): Promise<this> {
    await until(() => this.output.includes('Forecue is ready') || !this.#runs, 90_000);
    assert.ok(this.#runs, this.output);
    this.app = new AppClient('', await this.#text('app-key'), await this.#text('address'));
    return this;
  }

  get #runs(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async #text(file: string): Promise<string> {
    return (await readFile(join(this.#directory, file), 'utf8')).trim();
  }

  databaseUrl(): Promise<string> {
    return this.#text('database-url');
  }

  async postmaster(): Promise<number> {
    return Number((await this.#text('postgres/data/postmaster.pid')).split('\n')[0]);
  }

  async query(statement: string): Promise<unknown> {
    return Object.values((await query(await this.databaseUrl(), statement))[0] ?? {})[0];
  }

  /** Asserts that predictions succeed again within 5 s. Call it as soon as the server has ended. */
  async predictsAgain(): Promise<void> {
    const body = predictionBody();
    const since = performance.now();
    await until(async () => (await this.app.predict(body)).status === 200);
    const tookMs = performance.now() - since;
    assert.ok(tookMs < BACK_WITHIN_MS, `${tookMs} ms\n${this.output}`);
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    if (!this.#runs) return;
    const closed = once(this.#child, 'close');
    this.#child.kill(signal);
    await closed;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
