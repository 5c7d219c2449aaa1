import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { signUp } from '../support/account.ts';
import { describeWhere } from '../support/describe-where.ts';
import { ok } from '../support/fake-provider.ts';
import { echoPrompt } from '../support/replies.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type System, startSystem } from '../support/system.ts';
import { issueKey } from '../support/tool-server.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Folder where `.ci/get-tools` installs linters and generators. */
const { OPENAPI_TOOLS = '' } = process.env;

/** TypeScript of request bodies without the properties that have a default. */
const BODIES = `
  const draft = {
    request_id: 'r-1', user_id: 'u-1', session_id: 's-1', mode: 'complete_draft' as const,
    draft: { text: 'Thank you ', revision: 1 }, context_revision: '1',
  };
  const wrong = { ...draft, user_id: '' };
  const question = { agent: 'coder', agent_input: 'Tabs or spaces?' };
`;

const BY_TYPES = `
  import createClient from 'openapi-fetch';
  import type { paths } from './types.ts';
  export async function call(baseUrl: string, appKey: string, key: string) {
    const app = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + appKey } });
    const account = createClient<paths>({ baseUrl, headers: { 'x-service-api-key': key } });
    const { data } = await app.POST('/v1/predictions', { body: draft });
    const { error } = await app.POST('/v1/predictions', { body: wrong });
    const reply = await account.POST('/api/predictions/predict/', { body: question });
    return {
      completion: data?.completion,
      prediction: reply.data?.predicted_response,
      refused: Array.isArray(error?.detail) ? error.detail[0]?.loc.at(-1) : undefined,
    };
  }
`;

const BY_CLIENT = `
  import { predict, predictReply } from './made';
  import { createClient } from './made/client';
  export async function call(baseUrl: string, appKey: string, key: string) {
    const app = createClient({ baseUrl, auth: appKey });
    const account = createClient({ baseUrl, headers: { 'x-service-api-key': key } });
    const { data } = await predict({ client: app, body: draft });
    const { error } = await predict({ client: app, body: wrong });
    const reply = await predictReply({ client: account, body: question });
    return {
      completion: data?.completion,
      prediction: reply.data?.predicted_response,
      refused: error && Array.isArray(error.detail) ? error.detail[0]?.loc.at(-1) : undefined,
    };
  }
`;

describeWhere(OPENAPI_TOOLS !== '', 'docs/openapi.json', 'no OPENAPI_TOOLS', function () {
  this.timeout(120_000);
  let folder: string;
  let system: System;
  before(async () => {
    [folder, system] = await Promise.all([
      scratchFolder('forecue-openapi-'),
      startSystem({ workerEntry: ['workers/main.ts', 'all'] }),
    ]);
    system.provider.respond((response, call) =>
      (call.schema.includes('repl') ? echoPrompt : ok())(response, call),
    );
    await symlink(join(OPENAPI_TOOLS, 'node_modules'), join(folder, 'node_modules'));
    for (const file of ['docs/openapi.json', 'redocly.yaml', '.spectral.yaml'])
      await cp(join(ROOT, file), join(folder, file.replace('docs/', '')));
  });
  after(() => Promise.all([system?.stop(), rm(folder, { recursive: true })]));

  const env = { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const run = async (program: string, ...args: string[]) => {
    const path = join(program === 'tsc' ? ROOT : folder, 'node_modules/.bin', program);
    const running = promisify(execFile)(process.execPath, [path, ...args], { cwd: folder, env });
    await running.catch(({ stdout, stderr }) => assert.fail(`${stdout}${stderr}`));
  };

  it('docs/openapi.json passes Redocly without errors', () => run('redocly', 'lint', 'openapi.json'));

  it('docs/openapi.json passes Spectral with its OWASP rules without errors', () =>
    run('spectral', 'lint', '--fail-severity', 'error', 'openapi.json'));

  for (const [program, args, source] of [
    ['openapi-typescript', ['openapi.json', '--output', 'types.ts'], BY_TYPES],
    ['openapi-ts', ['--input', 'openapi.json', '--output', 'made', '--no-log-file'], BY_CLIENT],
  ] as const)
    it(`code that ${program} generates from docs/openapi.json compiles, and works with a running server`, async () => {
      await run(program, ...args);
      const entry = join(folder, `${program}.ts`);
      const [app, person] = await Promise.all([system.app(), signUp(system)]);
      await writeFile(entry, BODIES + source);
      const lib = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable,dom.asynciterable'];
      const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--types', ''];
      await run('tsc', '--ignoreConfig', '--noEmit', '--strict', ...lib, ...modules, entry);
      const outfile = join(folder, `${program}.mjs`);
      await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', logLevel: 'error' });
      const { call } = await import(outfile);
      assert.deepEqual(await call(app.url, app.key, await issueKey(person)), {
        completion: 'with care',
        prediction: 'Re: Tabs or spaces?',
        refused: 'user_id',
      });
    });
});
