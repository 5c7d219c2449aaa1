import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildExtension } from '../../bin/client/extension.ts';
import { zip } from '../../bin/client/zip.ts';
import { describeWhere } from '../support/describe-where.ts';
import { hasPython } from '../support/python-client.ts';

const SOURCE = join(import.meta.dirname, '../../client/extension');

describe("browser extension's files", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'forecue-extension-'));
    await buildExtension(folder);
  });
  after(() => rm(folder, { recursive: true }));
  const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8'));

  it('the extension asks for what it needs: its storage, a sign-in, the site in front, and servers that a person names', async () => {
    const manifest = await read('manifest.json');
    assert.deepEqual(manifest.permissions, ['activeTab', 'identity', 'storage']);
    assert.deepEqual(manifest.host_permissions, ['http://localhost/*', 'http://127.0.0.1/*']);
    assert.equal(manifest.content_security_policy, undefined);
    assert.equal(manifest.web_accessible_resources, undefined);
    assert.match(manifest.version, /^\d+\.\d+\.\d+$/);
  });

  it('the extension runs no code but its own files', async () => {
    const files = await readdir(folder);
    for (const name of globSync('*.html', { cwd: folder })) {
      const html = await readFile(join(folder, name), 'utf8');
      for (const [, script = ''] of html.matchAll(/<script[^>]*src="([^"]*)"/g))
        assert.ok(files.includes(script));
    }
    for (const name of globSync('*.js', { cwd: folder }))
      assert.doesNotMatch(
        await readFile(join(folder, name), 'utf8'),
        /\beval\(|new Function\(|importScripts\(|import\(/,
      );
  });

  it('every text of the extension is there in English and in German, and is used', async () => {
    const [english, german] = [
      await read('_locales/en/messages.json'),
      await read('_locales/de/messages.json'),
    ];
    assert.deepEqual(Object.keys(german), Object.keys(english));
    const sources = globSync('*.{ts,html,json}', { cwd: SOURCE });
    const texts = await Promise.all(sources.map((name) => readFile(join(SOURCE, name), 'utf8')));
    for (const [name, { message }] of Object.entries<{ message: string }>(english)) {
      assert.equal(german[name].message.includes('$1'), message.includes('$1'), name);
      assert.notEqual(german[name].message, name === 'name' ? '' : message);
      assert.ok(
        texts.some(
          (text) => text.includes(`'${name}'`) || text.includes(`"${name}"`) || text.includes(`_${name}_`),
        ),
        name,
      );
    }
  });

  describeWhere(hasPython, 'packed', 'there is no python3 from 3.9 on', () => {
    it('the packed extension has the same files, whichever program unpacks it, and packs to the same bytes', async () => {
      const archive = await zip(folder);
      const unpacked = await mkdtemp(join(tmpdir(), 'forecue-extension-'));
      await writeFile(join(unpacked, 'packed.zip'), archive);
      execFileSync('python3', ['-m', 'zipfile', '-e', 'packed.zip', 'files'], { cwd: unpacked });
      const names = globSync('**/*.*', { cwd: folder });
      assert.deepEqual(globSync('**/*.*', { cwd: join(unpacked, 'files') }).sort(), names.sort());
      for (const name of names)
        assert.ok(
          (await readFile(join(unpacked, 'files', name))).equals(await readFile(join(folder, name))),
          name,
        );
      assert.deepEqual(await zip(folder), archive);
      await rm(unpacked, { recursive: true });
    });
  });
});
