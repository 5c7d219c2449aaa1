import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { signUp } from '../support/account.ts';
import type { AppClient } from '../support/client.ts';
import { ok } from '../support/fake-provider.ts';
import { installClient, type PackedClient } from '../support/packed-client.ts';
import { echoPrompt } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';

const ROOT = join(import.meta.dirname, '../..');
const KB = 1000;

describe("client's package", function () {
  this.timeout(120_000);
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
    const other = installed.files.filter((path) => !/^dist\/[\w/-]+\.(js|d\.ts)$/.test(path));
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
    keep: () => {},
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
