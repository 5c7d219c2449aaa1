import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UNIT_FOLDER } from '../support/deployments.ts';
import { describeWhere } from '../support/describe-where.ts';

const INSTALLED = '/opt/forecue';
const has = spawnSync('systemd-analyze', ['--version']).status === 0;

describeWhere(has, 'systemd units', 'no systemd-analyze', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'forecue-units-'));
    await cp(UNIT_FOLDER, folder, { recursive: true });
    // Replaces the path of the installation by that of the checkout, which has the same files.
    for (const name of await readdir(folder, { recursive: true }))
      if (/\.(service|conf)$/.test(name)) {
        const file = join(folder, name);
        await writeFile(file, (await readFile(file, 'utf8')).replaceAll(INSTALLED, process.cwd()));
      }
  });
  after(() => rm(folder, { recursive: true }));

  // The path ends with an empty entry, which adds systemd's own units.
  const analyze = (...args: string[]) =>
    promisify(execFile)('systemd-analyze', args, {
      env: { ...process.env, SYSTEMD_UNIT_PATH: `${folder}:` },
    });
  const units = async () => (await readdir(UNIT_FOLDER)).filter((name) => /\.(service|target)$/.test(name));

  it('the systemd units are valid, and start programs that exist', async () => {
    const { stderr } = await analyze('verify', '--man=no', ...(await units()));
    assert.equal(
      stderr
        .split('\n')
        .filter((line) => line.includes('forecue'))
        .join('\n'),
      '',
    );
  });

  it('the systemd units have a security exposure of at most 2.0 out of 10', async () => {
    const services = (await units()).filter((name) => name.endsWith('.service'));
    await analyze('security', '--no-pager', '--offline=yes', '--threshold=20', ...services);
  });
});
