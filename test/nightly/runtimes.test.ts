import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { issueKey, signUp } from '../support/account.ts';
import { describeWhere } from '../support/describe-where.ts';
import { ok, type Step } from '../support/fake-provider.ts';
import { startLossyLink } from '../support/lossy-link.ts';
import { installClient, type PackedClient } from '../support/packed-client.ts';
import { echoPrompt } from '../support/replies.ts';
import { type System, startSystem } from '../support/system.ts';

/** Arguments by which each runtime runs a program. `node` is the Node.js that npm uses on this machine. */
const RUNTIMES = {
  node: [],
  bun: ['run'],
  deno: ['run', '--no-remote', '--allow-net', '--allow-env'],
};

const LEFT_DRAFT = 'The draft of a person who left';
const LOSSY_PATHS = ['/v1/predictions', '/api/predictions/predict/batch/'];
const answer: Step = (response, call) => {
  if (call.schema.includes('repl')) return echoPrompt(response, call);
  // Never answers: the call ends when the worker aborts it.
  return call.record.draft === LEFT_DRAFT ? undefined : ok()(response, call);
};

describe('client', () => {
  let installed: PackedClient;
  let system: System;
  before(async () => {
    [installed, system] = await Promise.all([
      installClient(),
      startSystem({ workerEntry: ['workers/main.ts', 'all'] }),
    ]);
    system.provider.respond(answer);
  });
  after(() => Promise.all([installed?.remove(), system?.stop()]));

  for (const [runtime, args] of Object.entries(RUNTIMES)) {
    const isThere = spawnSync(runtime, ['--version']).status === 0;
    describeWhere(isThere, `on ${runtime}`, `no ${runtime}`, () => {
      it(`the client on ${runtime} retries, cancels, streams, renews its tokens, and then lets the program end`, async () => {
        await using link = await startLossyLink(system.webs[0]?.url ?? '', LOSSY_PATHS);
        const app = await system.app();
        const person = await signUp(system);
        const printed = await installed.run(SMOKE, {
          command: [runtime, ...args],
          env: {
            FORECUE_URL: link.url,
            APP_KEY: app.key,
            FORECUE_KEY: await issueKey(person),
            REFRESH: person.refresh,
            LEFT_DRAFT,
            HOME: installed.folder,
            DENO_DIR: join(installed.folder, '.deno'),
            DENO_NO_UPDATE_CHECK: '1',
          },
        });
        assert.deepEqual(JSON.parse(printed), {
          predicted: ['suggested', 'with care', 'true'],
          left: 'AbortError',
          refused: ['validation_error', 422, 'fix_request'],
          reply: 'Re: Tabs or spaces?',
          events: ['job', 'result', 'result', 'result', 'done'],
          account: person.email,
        });
        assert.deepEqual(link.cut, LOSSY_PATHS);
        assert.equal((await app.cancel('left-1', 'u-1')).body.status, 'cancelled');
        const { prediction_units, reserved_units } = (await app.usage()).body;
        assert.deepEqual([prediction_units, reserved_units], [1, 0]);
      });
    });
  }
});

const SMOKE = `
  import { createAccountClient } from 'forecue/api';
  import { createAppClient } from 'forecue/v1';
  const env = globalThis.Deno?.env.toObject() ?? process.env;
  const baseUrl = env.FORECUE_URL;
  const app = createAppClient({ baseUrl, appKey: env.APP_KEY });
  const account = createAccountClient({ baseUrl, credential: env.FORECUE_KEY });
  const draft = (session_id, text) => ({
    user_id: 'u-1', session_id, mode: 'complete_draft', context_revision: '1', draft: { text, revision: 1 },
  });

  let replayed;
  const prediction = await app.predict(draft('s-1', 'Thank you '), {
    onResponse: ({ headers }) => { replayed = headers.get('idempotency-replayed'); },
  });
  const leaving = new AbortController();
  const left = app
    .predict({ ...draft('s-2', env.LEFT_DRAFT), request_id: 'left-1' }, { signal: leaving.signal })
    .catch(({ name }) => name);
  setTimeout(() => leaving.abort(), 200);
  const refused = await app.predict(draft('', '')).catch(({ code, status, remedy }) => [code, status, remedy]);

  const reply = await account.predictReply({ agent: 'coder', agent_input: 'Tabs or spaces?' });
  const prompts = ['One?', 'Two?', 'Three?'].map((agent_input) => ({ agent: 'coder', agent_input }));
  const events = [];
  for await (const { type } of account.stream('predictReplies', { prompts }))
    if (type !== 'progress') events.push(type);
  const person = createAccountClient({ baseUrl, credential: { access: 'expired', refresh: env.REFRESH } });
  const { email } = await person.readAccount();
  person.close();
  console.log(JSON.stringify({
    predicted: [prediction.status, prediction.completion, replayed],
    left: await left,
    refused,
    reply: reply.predicted_response,
    events,
    account: email,
  }));
`;
