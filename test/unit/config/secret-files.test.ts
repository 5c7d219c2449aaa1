import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ingressConfig, workerConfig } from '../../../shared/config/config.ts';
import { withSecrets } from '../../../shared/config/development.ts';

const SECRETS = {
  DATABASE_URL: 'postgres://a:1@db.example/forecue',
  DATABASE_DIRECT_URL: 'postgres://b:2@db.example/forecue',
  REDIS_URL: 'redis://c:3@queue.example',
  JWT_SECRET: 'a secret of 32 bytes at the least',
  ADMIN_TOKEN: 'a token of 32 bytes at the very least',
  OPENAI_API_KEY: 'sk-4',
  SMTP_URL: 'smtp://d:5@mail.example',
};
const OTHERS = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://forecue.example',
  DEFAULT_MODEL: 'm',
  MAIL_FROM: 'a@b.example',
};

describe('secret by file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'forecue-secrets-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function fileOf(content: string, name = 'secret'): Promise<string> {
    const file = join(folder, name);
    await writeFile(file, content);
    return file;
  }

  it('a secret in a file, with or without spaces and newlines around it, gives the same configuration as a secret in a variable', async () => {
    for (const end of ['', '\n', '\r\n', ' \n\n']) {
      const files: Record<string, string> = {};
      for (const [name, value] of Object.entries(SECRETS))
        files[`${name}_FILE`] = await fileOf(value + end, name);
      for (const configOf of [ingressConfig, workerConfig])
        assert.deepEqual(configOf({ ...OTHERS, ...files }), configOf({ ...OTHERS, ...SECRETS }));
    }
  });

  it('a secret given both as a file and as a value is an error that names both variables', async () => {
    const file = await fileOf(SECRETS.JWT_SECRET);
    assert.throws(() => ingressConfig({ ...OTHERS, ...SECRETS, JWT_SECRET_FILE: file }), {
      message: 'configuration: JWT_SECRET and JWT_SECRET_FILE are both set',
    });
  });

  it('a secret file that is missing, empty or a folder is an error that names the variable and the file', async () => {
    const start = (file: string) => () =>
      ingressConfig(
        withSecrets(
          { ...SECRETS, MAIL_FROM: OTHERS.MAIL_FROM, JWT_SECRET: '', JWT_SECRET_FILE: file },
          folder,
        ),
      );
    const missing = join(folder, 'none');
    const message = (what: string) => ({ message: `configuration: JWT_SECRET_FILE names ${what}` });
    assert.throws(start(missing), message(`a file that cannot be read (ENOENT): ${missing}`));
    assert.throws(start(folder), message(`a file that cannot be read (EISDIR): ${folder}`));
    const empty = await fileOf('\n');
    assert.throws(start(empty), message(`an empty file: ${empty}`));
  });

  it('a secret read from a file is never quoted in an error', async () => {
    const file = await fileOf('not-a-url-but-secret');
    assert.throws(
      () => ingressConfig({ ...OTHERS, ...SECRETS, DATABASE_URL: '', DATABASE_URL_FILE: file }),
      (error: Error) => error.message.includes('DATABASE_URL must be') && !error.message.includes('secret'),
    );
  });

  it('a setting that is not a secret is not read from a _FILE variable', () => {
    assert.equal(ingressConfig({ ...OTHERS, ...SECRETS, PORT_FILE: '/nowhere' }).port, 8080);
  });
});
