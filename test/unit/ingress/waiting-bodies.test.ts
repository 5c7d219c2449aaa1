import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { JobService } from '../../../ingress/jobs/service.ts';
import { readExamples } from '../../../ingress/openapi/committed.ts';
import { draftPredictor } from '../../../ingress/predictions/drafts.ts';
import { PredictionService } from '../../../ingress/predictions/service.ts';
import { RecordingService } from '../../../ingress/recording/service.ts';
import { ReplyService } from '../../../ingress/replies/service.ts';
import { endpoints } from '../../../ingress/routes/index.ts';
import { Box } from '../../../shared/box.ts';
import { createLog } from '../../../shared/log.ts';
import { compile } from '../../../shared/schemas/validator.ts';

const examples = readExamples();

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Settles the promises of calls that wait. As long as it is reachable, so are the functions that await these. */
const settlers: (() => void)[] = [];
const wait = () =>
  new Promise<never>((_, reject) => settlers.push(() => reject(new Error('the test is over'))));

/** Work that never ends, once it has taken its input as an admission does. */
const work = {
  perform: (_kind: unknown, { input }: { input: Box<string> }) => {
    input.take();
    return wait();
  },
  start: () => assert.fail(),
  cancel: () => assert.fail(),
};
const em = () => assert.fail();
const parts = {
  predictions: new PredictionService(work, 1_000_000),
  predictDraft: draftPredictor(work, 1_000_000),
  replies: new ReplyService({ work, em, maxK: 10, supportedModels: ['gpt-5-mini'] }),
  recording: new RecordingService({ em, recordBatch: wait }),
  jobs: new JobService({
    work,
    views: {},
    find: () => assert.fail(),
    isErased: () => assert.fail(),
    sendTimeoutMs: 1000,
    log: createLog('test', 'silent'),
  }),
  supportedModels: ['gpt-5-mini'],
  publicUrl: 'http://localhost',
};

/** Returns a published example as the router gives it to the endpoint, with defaults. */
function checkedBody(endpoint: (typeof endpoints)[number]): object {
  assert.ok(endpoint.body);
  const checked = compile(endpoint.body)(structuredClone(examples[endpoint.operationId]?.request));
  assert.ok(checked.ok);
  return checked.value as object;
}

/** Calls the endpoint; returns its pending answer, and a weak reference to the body that it was given. */
function call(endpoint: (typeof endpoints)[number]) {
  const body = checkedBody(endpoint);
  const input = {
    body: new Box(body),
    query: {},
    params: {},
    app: { id: 'app', disabled: [], fingerprintKey: Buffer.alloc(32), onDisconnect: 'cancel' },
    user: { id: 'user' },
    headers: {},
    signal: new AbortController().signal,
    reserve: async () => {},
  };
  return { answer: endpoint.run(input as never, parts as never), body: new WeakRef(body) };
}

describe('body of a request that waits', () => {
  afterEach(() => {
    for (const settle of settlers.splice(0)) settle();
  });

  for (const endpoint of endpoints.filter(({ boxesBody }) => boxesBody))
    it(`a request to ${endpoint.operationId} that waits does not keep its body in memory`, async () => {
      const { answer, body } = call(endpoint);
      const state = Promise.race([answer, nextTurn('waits')]);
      assert.equal(await state, 'waits');
      collectGarbage();
      assert.equal(body.deref(), undefined);
      assert.equal(settlers.length, 1);
      answer.catch(() => {});
    });
});
