import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { verifyBackup } from '../../bin/admin/archive/read.ts';
import { scratchFolder } from '../support/scratch.ts';

const LINES = [
  '{"version":"1"}',
  ...Array.from({ length: 100 }, () => randomBytes(8000).toString('hex')),
  '',
];

describe('backup with a wrong bit', () => {
  it('a backup with one wrong bit is refused, and its verification does not hang', async () => {
    const folder = await scratchFolder('forecue-archive-');
    const file = join(folder, 'one.backup');
    const whole = gzipSync(LINES.join('\n'));
    await writeFile(file, whole);
    assert.deepEqual(await verifyBackup(file), { version: '1' });
    // Also damages the last chunk that is read: when it is checked, the input has already ended.
    for (let at = whole.length - 60_000; at < whole.length; at += 1999) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 8, at);
      await writeFile(file, damaged);
      await assert.rejects(verifyBackup(file), /a damaged one/);
    }
    await rm(folder, { recursive: true });
  });
});
