import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { packClient } from '../../bin/client/pack.ts';
import { signUp } from '../support/account.ts';
import type { AppClient } from '../support/client.ts';
import { ok } from '../support/fake-provider.ts';
import { installClient, type PackedClient, PLAIN_ENV } from '../support/packed-client.ts';
import { echoPrompt } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';

const ROOT = join(import.meta.dirname, '../..');
const KB = 1000;

describe("client's package", () => {
  let installed: PackedClient;
  before(async () => {
    installed = await installClient();
  });
  after(() => installed?.remove());
  const bundle = (contents: string) =>
    build({
      stdin: { contents, resolveDir: installed.folder },
      bundle: true,
      minify: true,
      format: 'esm',
      write: false,
      metafile: true,
      external: ['@codemirror/*', 'react'],
    });

  it("the client's package contains the built modules with their types, a README and a licence, and no dependency", async () => {
    const other = installed.files.filter((path) => !/^dist\/[\w/-]+\.(c?js|d\.ts)$/.test(path));
    assert.deepEqual(other.sort(), ['LICENSE', 'README.md', 'package.json']);
    const { packages } = JSON.parse(await readFile(join(installed.folder, 'package-lock.json'), 'utf8'));
    assert.deepEqual(Object.keys(packages), ['', 'node_modules/forecue']);
  });

  for (const [name, source, most] of [
    ['the module /v1', `export { createAppClient } from 'forecue/v1'`, 12],
    [
      'all modules',
      `export * from 'forecue'; export * from 'forecue/connect'; export * from 'forecue/textarea';
       export * from 'forecue/codemirror'; export * from 'forecue/react'`,
      20,
    ],
    [
      'a field with its client',
      `export { createAppClient } from 'forecue/v1'; export { attachCompleter } from 'forecue/textarea'`,
      20,
    ],
  ] as const)
    it(`a compressed bundle of ${name} of the client has at most ${most} kB, and the client's README states the size`, async () => {
      const { outputFiles } = await bundle(source);
      const size = gzipSync(outputFiles[0]?.contents ?? '').length / KB;
      assert.ok(size <= most, `${size} kB`);
      const readme = await readFile(join(ROOT, 'client/README.md'), 'utf8');
      assert.ok(readme.includes(`${Math.ceil(size)} kB for`), `${size} kB`);
    });

  for (const [name, from, others] of [
    ['createAppClient', 'forecue', ['api', 'jobs', 'event-stream', 'completer', 'connect']],
    ['createAccountClient', 'forecue', ['v1', 'completer', 'connect']],
    ['createCompleter', 'forecue', ['v1', 'api', 'transport', 'connect']],
    ['createConnector', 'forecue/connect', ['v1', 'api', 'transport', 'relay', 'node-handler']],
  ] as const)
    it(`a bundle that imports ${name} from ${from} contains no unrelated modules of the client's package`, async () => {
      const { metafile } = await bundle(`export { ${name} } from '${from}'`);
      const [output] = Object.values(metafile.outputs);
      const used = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
      const modules = used.map(([path]) => basename(path, '.js'));
      assert.deepEqual(
        modules.filter((one) => others.some((other) => other === one)),
        [],
      );
    });

  it("the client's types reject an unknown mode, and reading `completion` of a cancelled prediction", async () => {
    const source = `
      import { createAccountClient, createAppClient, type Prediction } from 'forecue';
      import { createConnector, createRelay, nodeHandler } from 'forecue/connect';
      const app = createAppClient({ baseUrl: 'http://a.example', appKey: 'fc_' });
      const prediction: Prediction = await app.predict({
        user_id: 'u', session_id: 's', mode: 'complete_draft', draft: { text: 'a', revision: 1 }, context_revision: 'c',
      });
      if (prediction.status === 'suggested') prediction.completion.trim();
      // @ts-expect-error A cancelled prediction has no completion.
      if (prediction.status === 'cancelled') prediction.completion;
      // @ts-expect-error There is no such mode.
      await app.predict({ ...prediction, mode: 'other' });
      const account = createAccountClient({ baseUrl: 'http://a.example' });
      const rows: { id: string }[] = await account.addFacts([{ text: 'a' }]);
      const row: { id: string } = await account.addFacts({ text: 'a' });
      for await (const event of account.stream('predictReplies', { prompts: [] }))
        if (event.type === 'done') event.result.succeeded.toFixed();
      export { createConnector, createRelay, nodeHandler, row, rows };`;
    await writeFile(join(installed.folder, 'types.ts'), source);
    const options = [
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--types',
      '',
      '--lib',
      'es2022,dom,dom.iterable',
    ];
    const compiler = join(ROOT, 'node_modules/.bin/tsc');
    await promisify(execFile)(compiler, [...options, '--ignoreConfig', 'types.ts'], {
      cwd: installed.folder,
    }).catch(({ stdout }) => assert.fail(stdout));
  });

  describe('published by the server', () => {
    const system = useSystem();
    let address: string;
    before(async () => {
      const file = await packClient();
      // Reads its files once, at its start.
      const { url } = await system.startWeb({});
      address = `${url}/client/${file}`;
    });
    const inProject = (command: string, args: string[], env: Record<string, string> = {}) =>
      promisify(execFile)(command, args, { cwd: installed.folder, env: { ...PLAIN_ENV, ...env } });

    it('the server publishes the packed client with its checksum, and npm installs it from there', async () => {
      const content = Buffer.from(await (await fetch(address)).arrayBuffer());
      const digest = createHash('sha256').update(content).digest('hex');
      assert.equal(await (await fetch(`${address}.sha256`)).text(), `${digest}  ${basename(address)}\n`);
      await inProject('npm', ['install', '--no-audit', '--no-fund', address]);
      const { dependencies } = JSON.parse(await readFile(join(installed.folder, 'package.json'), 'utf8'));
      assert.deepEqual(dependencies, { forecue: address });
    });

    it('the server publishes the packed browser extension with its checksum', async () => {
      const name = basename(address).replace('forecue-', 'forecue-extension-').replace('.tgz', '.zip');
      const response = await fetch(new URL(name, address));
      assert.equal(response.headers.get('content-type'), 'application/zip');
      const content = Buffer.from(await response.arrayBuffer());
      const digest = createHash('sha256').update(content).digest('hex');
      assert.equal(await (await fetch(new URL(`${name}.sha256`, address))).text(), `${digest}  ${name}\n`);
    });

    it("npx runs the client's commands from the package that the server publishes", async () => {
      const person = await signUp(system);
      const { body } = await person.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'npx' });
      const { stdout } = await inProject('npx', ['-y', address, 'record'], {
        HOME: installed.folder,
        FORECUE_URL: new URL(address).origin,
        FORECUE_KEY: body.key,
      }).catch((error) => error);
      assert.match(stdout, new RegExp(`for ${person.email}`));
      assert.match(stdout, /Nothing is recorded/);
    });
  });

  it("the code blocks of the client's README compile in a strict project", async () => {
    const readme = await readFile(join(ROOT, 'client/README.md'), 'utf8');
    const blocks = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, source = '']) => source);
    const names = blocks.map((_, at) => `readme-${at}.ts`);
    // A block without imports is no module by itself.
    for (const [at, source] of blocks.entries())
      await writeFile(join(installed.folder, `readme-${at}.ts`), `${source}\nexport {};\n`);
    await writeFile(join(installed.folder, 'given.d.ts'), README_GIVEN);
    const compilerOptions = {
      noEmit: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: true,
      target: 'es2022',
      module: 'nodenext',
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: { oauth4webapi: [join(ROOT, 'node_modules/oauth4webapi/build/index.d.ts')] },
    };
    const project = join(installed.folder, 'readme.json');
    await writeFile(project, JSON.stringify({ compilerOptions, files: ['given.d.ts', ...names] }));
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project]).catch(({ stdout }) =>
      assert.fail(stdout),
    );
  });

  describe('README', () => {
    const system = useSystem({ workerEntry: ['workers/main.ts', 'all'] });
    let app: AppClient;
    before(async () => {
      app = await system.app({ redirectUris: ['https://app.example/forecue/callback'] });
      system.provider.respond((response, call) =>
        (call.schema.includes('repl') ? echoPrompt : ok())(response, call),
      );
    });

    it("the code blocks of the client's README run in order, and the block for a page can be bundled", async () => {
      const readme = await readFile(join(ROOT, 'client/README.md'), 'utf8');
      const blocks = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, source = '']) => source);
      assert.equal(blocks.length, 11);
      for (const [at, source] of blocks.entries())
        await writeFile(join(installed.folder, `block-${at}.js`), source);
      const others = 'node_modules/oauth4webapi';
      await symlink(join(ROOT, others), join(installed.folder, others));
      const isOfPage = (source: string) => source.includes('document.');
      const imports = blocks.flatMap((source, at) =>
        isOfPage(source) ? [] : `await import('./block-${at}.js');`,
      );
      assert.equal(imports.length, blocks.length - 1);
      await bundle(blocks.find(isOfPage) ?? '');
      const person = await signUp(system);
      const { body } = await person.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'readme' });
      const printed = await installed.run(README_SETUP + imports.join('\n') + ENDING, {
        env: {
          FORECUE_URL: app.url,
          APP_KEY: app.key,
          FORECUE_KEY: body.key,
          EMAIL: person.email,
          PASSWORD: person.password,
          ROOT,
        },
      });
      for (const text of ['with care', 'suggested', '2 of 2', 'Ask the person.', 'shown:'])
        assert.ok(printed.includes(text), `${text} is not in ${printed}`);
    });
  });
});

/** Types of the names that the README's blocks take as given. */
const README_GIVEN = `
  import type { AppClient, Message, PredictionInput, PredictionResponse } from 'forecue/v1';
  import type { AccountClient } from 'forecue/api';
  import type nodeHttp from 'node:http';
  declare global {
    const http: typeof nodeHttp;
    const forecue: AppClient;
    const account: AccountClient;
    const prediction: PredictionResponse;
    const messages: Message[];
    const connections: Map<string, string>;
    const redirectUri: string;
    const email: string;
    const password: string;
    function draft(): PredictionInput;
    function show(text: string): void;
    function userOfSession(cookie: string | null): string | undefined;
    function comeBack(url: string): Promise<URL>;
  }
`;

/** Defines the names that the README's blocks take as given. */
const README_SETUP = `
  import http from 'node:http';
  import { createAccountClient } from 'forecue/api';
  import { createAppClient } from 'forecue/v1';
  const forecue = createAppClient({ baseUrl: process.env.FORECUE_URL, appKey: process.env.APP_KEY });
  const account = createAccountClient({ baseUrl: process.env.FORECUE_URL, credential: process.env.FORECUE_KEY });
  let revision = 1;
  const draft = () => ({
    user_id: 'user-17', session_id: 'chat-4', mode: 'complete_draft', context_revision: '1',
    draft: { text: 'Thank you for ', revision: revision++ },
  });
  const shown = Promise.withResolvers();
  Object.assign(globalThis, {
    http, forecue, account, draft,
    prediction: await forecue.predict(draft()),
    messages: [],
    show: (text) => shown.resolve(text),
    userOfSession: () => 'user-17',
    connections: new Map(),
    redirectUri: 'https://app.example/forecue/callback',
    email: process.env.EMAIL,
    password: process.env.PASSWORD,
    async comeBack(url) {
      const { Visitor } = await import(process.env.ROOT + '/test/connect/visitor.ts');
      const visitor = new Visitor();
      await visitor.submit(url, { do: 'sign-in', email: process.env.EMAIL, password: process.env.PASSWORD });
      return new URL((await visitor.submit(url, { do: 'approve' })).location);
    },
  });
`;
const ENDING = `
  console.log('shown:', await shown.promise);
  process.exit();
`;
