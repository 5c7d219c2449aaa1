import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { readLines } from '../../../shared/transcripts/import-file.ts';
import type { Line } from '../../../shared/transcripts/transcript.ts';

describe('lines of a file', () => {
  let path: string;
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'forecue-lines-'));
    path = join(directory, 'file');
  });
  after(() => rm(directory, { recursive: true }));

  const read = async (content: string | Buffer, lineMax?: number): Promise<Line[]> => {
    await writeFile(path, content);
    const lines: Line[] = [];
    for await (const line of readLines(path, lineMax)) lines.push(line);
    return lines;
  };
  const textsOrFaults = (lines: Line[]) => lines.map((line) => line.text ?? line.fault);

  it('the lines read from a file do not depend on where its chunks end', async () => {
    const long = 'é'.repeat(700_000);
    assert.deepEqual(textsOrFaults(await read(`${long}\n\n${long}`)), [long, '', long]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string().map((text) => text.replaceAll(/[\r\n\uFEFF]/g, ' ').toWellFormed())),
        async (texts) => {
          const lines = await read(texts.map((text) => `${text}\n`).join(''));
          assert.deepEqual(
            lines.map(({ number, text }) => [number, text]),
            texts.map((text, i) => [i + 1, text]),
          );
        },
      ),
      { numRuns: 30 },
    );
  });

  it('a byte order mark at the start of a file and carriage returns at line ends are not part of the lines read', async () => {
    assert.deepEqual(textsOrFaults(await read('\uFEFFone\r\ntwo\r\n')), ['one', 'two']);
  });

  it("a line that is not UTF-8 or is too long is reported as faulty, and the file's other lines are read", async () => {
    const lines = await read(Buffer.from('one\n\xff\xfe\ntwo\n', 'latin1'));
    assert.deepEqual(textsOrFaults(lines), ['one', 'is not UTF-8', 'two']);
    assert.deepEqual(textsOrFaults(await read('short\nfar too long\nend', 8)), [
      'short',
      'is too long',
      'end',
    ]);
    const huge = `${'x'.repeat(3_000_000)}\nend`;
    assert.deepEqual(textsOrFaults(await read(huge, 2_000_000)), ['is too long', 'end']);
  });

  it('each line read from a file states its number of bytes, including the line break', async () => {
    const lines = await read('é\n\nabc');
    assert.deepEqual(
      lines.map(({ bytes }) => bytes),
      [3, 1, 3],
    );
  });
});
