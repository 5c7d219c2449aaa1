import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { encodeFrames, type Frame } from '../../bin/admin/archive/frames.ts';
import { verifyBackup } from '../../bin/admin/archive/read.ts';
import { scratchFolder } from '../support/scratch.ts';

async function* frames(): AsyncGenerator<Frame> {
  yield { type: 'M', body: Buffer.from('{}') };
  for (let n = 0; n < 100; n += 1) yield { type: 'D', body: Buffer.from(randomBytes(8000).toString('hex')) };
}

describe('backup with a wrong bit', () => {
  it('a backup with one wrong bit is refused, and its verification does not hang', async () => {
    const folder = await scratchFolder('forecue-archive-');
    const file = join(folder, 'one.backup');
    const whole = gzipSync(Buffer.concat(await Array.fromAsync(encodeFrames(frames()))));
    await writeFile(file, whole);
    assert.deepEqual(await verifyBackup(file), {});
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
