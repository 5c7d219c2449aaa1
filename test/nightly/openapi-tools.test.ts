import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { issueKey, signUp } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { describeWhere } from '../support/describe-where.ts';
import { ok } from '../support/fake-provider.ts';
import { freePort } from '../support/free-port.ts';
import { event } from '../support/recording.ts';
import { echoPrompt } from '../support/replies.ts';
import { scratchFolder } from '../support/scratch.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

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

const KUBB = `
  import { defineConfig } from '@kubb/core';
  import { pluginClient } from '@kubb/plugin-client';
  import { pluginOas } from '@kubb/plugin-oas';
  import { pluginTs } from '@kubb/plugin-ts';
  const plugins = [pluginOas(), pluginTs({ output: { path: 'types' } }), pluginClient({ client: 'fetch' })];
  const output = { path: './kubb', barrelType: 'named', format: false };
  export default defineConfig({ root: '.', input: { path: './openapi.json' }, output, plugins });
`;

const DRAFT = predictionBody({ request_id: 'prism-1' });
const QUESTION = { agent: 'coder', agent_input: 'Tabs or spaces?' };
const READS = `/api/auth/me/ /api/auth/keys/ /api/recording/events/e-1/ /api/recording/sessions/
  /api/recording/sessions/prism/events/?limit=1 /api/memory/raw/?since=2026-11-01 /api/memory/stats/?since=2026-11-01
  /api/memory/facts/ /api/predictions/ /api/predictions/stats/ /v1/usage`;

/** The main path of an app and of a person: method, path, body, expected status. `$ID` is the id of the last answer. */
const MAIN_PATH: [method: string, path: string, body?: unknown, status?: number][] = [
  ['POST', '/api/auth/keys/', { label: 'k' }, 201],
  ['POST', '/api/recording/events/', [event({ id: 'e-1', session_id: 'prism' }), { id: 'e-2' }], 201],
  ['POST', '/api/memory/sync/'],
  ['POST', '/api/memory/promote/episodes/', { model: 'local', since: '2026-11-01' }],
  ['GET', '/api/memory/profile/', undefined, 404],
  ['POST', '/api/memory/profile/', { summary: 'Writes Rust' }, 201],
  ['POST', '/api/memory/facts/', { text: 'Likes tea' }, 201],
  ['PATCH', '/api/memory/facts/$ID/', { pinned: true }],
  ['DELETE', '/api/memory/facts/$ID/'],
  ['POST', '/api/memory/context/', { query: 'tea', recency_minutes: null }],
  ['POST', '/api/predictions/predict/', QUESTION],
  ['POST', '/api/predictions/$ID/feedback/', { status: 'accepted' }],
  ['POST', '/api/predictions/predict/batch/', { prompts: [QUESTION, QUESTION] }],
  ['POST', '/v1/predictions', DRAFT],
  ['POST', '/v1/predictions', { ...DRAFT, context_revision: 'another' }, 409],
  ['POST', '/v1/predictions/prism-1/cancel', { user_id: DRAFT.user_id }],
  ...READS.split(/\s+/).map((path): [string, string] => ['GET', path]),
];

describeWhere(OPENAPI_TOOLS !== '', 'docs/openapi.json', 'no OPENAPI_TOOLS', () => {
  let folder: string;
  let system: System;
  before(async () => {
    [folder, system] = await Promise.all([
      scratchFolder('forecue-openapi-'),
      startSystem({
        workerEntry: ['workers/main.ts', 'all'],
        env: { SUPPORTED_MODELS: 'fake-model,local' },
      }),
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

  const checkTypes = (entry: string) => {
    const lib = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable,dom.asynciterable'];
    const modules = ['--module', 'esnext', '--moduleResolution', 'bundler', '--allowImportingTsExtensions'];
    return run(
      'tsc',
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      ...lib,
      ...modules,
      '--types',
      '',
      entry,
    );
  };

  for (const [program, args, entry] of [
    ['orval', ['--input', 'openapi.json', '--output', 'orval.ts', '--client', 'fetch'], 'orval.ts'],
    ['kubb', ['generate', '--config', 'kubb.config.mjs'], 'kubb/index.ts'],
  ] as const)
    it(`code that ${program} generates from docs/openapi.json compiles`, async () => {
      await writeFile(join(folder, 'kubb.config.mjs'), KUBB);
      await run(program, ...args);
      await checkTypes(join(folder, entry));
    });

  it('on the main path, no answer violates docs/openapi.json according to Prism as validating proxy', async () => {
    const port = await freePort();
    const args = [
      'proxy',
      'openapi.json',
      system.webs[0]?.url ?? '',
      '--errors',
      'false',
      '--port',
      `${port}`,
    ];
    const prism = spawn(process.execPath, [join(folder, 'node_modules/.bin/prism'), ...args], {
      cwd: folder,
      env,
    });
    try {
      const [app, person] = await Promise.all([system.app(), signUp(system)]);
      await until(() => fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined), 60_000);
      let id = '';
      for (const [method, path, body, status = 200] of MAIN_PATH) {
        const credential = path.startsWith('/v1') ? app.key : person.access;
        const answer = await fetch(`http://127.0.0.1:${port}${path.replace('$ID', id)}`, {
          method,
          headers: {
            authorization: `Bearer ${credential}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await answer.text();
        const violations = JSON.parse(answer.headers.get('sl-violations') ?? '[]') as {
          location: string[];
        }[];
        // The answer to a wrong request is right all the same.
        const ofAnswer = violations.filter(({ location }) => location[0] === 'response');
        assert.deepEqual([answer.status, ofAnswer], [status, []], `${method} ${path} ${text}`);
        id = /"id":"([0-9a-f-]{36})"/.exec(text)?.[1] ?? id;
      }
    } finally {
      prism.kill();
    }
  });

  for (const [program, args, source] of [
    ['openapi-typescript', ['openapi.json', '--output', 'types.ts'], BY_TYPES],
    ['openapi-ts', ['--input', 'openapi.json', '--output', 'made', '--no-log-file'], BY_CLIENT],
  ] as const)
    it(`code that ${program} generates from docs/openapi.json compiles, and works with a running server`, async () => {
      await run(program, ...args);
      const entry = join(folder, `${program}.ts`);
      const [app, person] = await Promise.all([system.app(), signUp(system)]);
      await writeFile(entry, BODIES + source);
      await checkTypes(entry);
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
