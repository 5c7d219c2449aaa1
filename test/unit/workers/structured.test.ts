import assert from 'node:assert/strict';
import Type, { type Static } from 'typebox';
import { closedObject, oneOf } from '../../../shared/schemas/build.ts';
import { compile } from '../../../shared/schemas/validator.ts';
import {
  type CallLimits,
  type Provider,
  ProviderError,
  type StructuredAnswer,
  type StructuredQuestion,
} from '../../../workers/providers/provider.ts';
import { createProviders } from '../../../workers/providers/providers.ts';
import { anyCharge } from '../../support/charge.ts';
import * as fake from '../../support/fake-provider.ts';

const Colour = closedObject({ name: Type.String(), kind: oneOf(['warm', 'cold']) });
type Colour = Static<typeof Colour>;

const question: StructuredQuestion<Colour> = {
  name: 'colour',
  messages: [
    { role: 'system', content: 'Name a colour.' },
    { role: 'user', content: '<record>\n{}\n</record>' },
  ],
  schema: Colour,
  check: compile(Colour),
  maxTokens: 300,
};

const RED = { name: 'red', kind: 'warm' } as const;
const usage = { inputTokens: 12, cachedTokens: 0, outputTokens: 5 };
const usageOfTwoCalls = { inputTokens: 24, cachedTokens: 0, outputTokens: 10 };

const write = (content: string, finish?: string) => fake.message({ content }, finish);
const right = () => write(JSON.stringify(RED));

/** Answers like a server that does not support a format. */
const refuseFormat = (message: string, code = 400) => fake.status(code, {}, message);

describe('structured questions', () => {
  const server = fake.useFakeProvider();
  let provider: Provider;

  beforeEach(() => {
    server.reset();
    server.respond(right());
    provider = createProviders({ openai: { apiKey: 'sk-x', baseUrl: server.url } })('m');
  });

  function ask(fields: Partial<CallLimits> = {}): Promise<StructuredAnswer<Colour>> {
    const { signal } = new AbortController();
    assert.ok(provider.ask);
    return provider.ask(question, { model: 'm', signal, timeoutMs: 2000, charge: anyCharge, ...fields });
  }

  async function faultOf(answer: Promise<unknown>): Promise<ProviderError> {
    const error = await answer.then(
      () => assert.fail('answered'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ProviderError);
    return error;
  }

  const formats = () => server.calls.map(({ body }) => (body['response_format'] as { type?: string })?.type);
  const lastMessages = () => server.calls.at(-1)?.body.messages ?? [];

  it('structured questions are sent with the strict schema and answered in its shape', async () => {
    assert.deepEqual(await ask(), { state: 'answered', value: RED, usage, model: 'm' });
    assert.deepEqual(server.calls[0]?.body['response_format'], {
      type: 'json_schema',
      json_schema: { name: 'colour', strict: true, schema: JSON.parse(JSON.stringify(Colour)) },
    });
    assert.deepEqual(lastMessages(), question.messages);
  });

  const wrappedAnswers: [name: string, content: string][] = [
    ['a code fence', `\`\`\`json\n${JSON.stringify(RED)}\n\`\`\``],
    ['surrounding words', `Here you are: ${JSON.stringify(RED)} Anything else?`],
    ['braces before the fence', `With {kind}:\n\`\`\`\n${JSON.stringify(RED)}\n\`\`\``],
    ['preceding thoughts', `<think>{"name":"blue"} or not?</think>${JSON.stringify(RED)}`],
    ['braces and quotes in its texts', '{"name":"a } \\" { b","kind":"warm"} {"name":"x","kind":"cold"}'],
  ];
  for (const [name, content] of wrappedAnswers)
    it(`structured questions find the JSON answer in spite of ${name}, without asking again`, async () => {
      server.respond(write(content));
      const answer = await ask();
      assert.equal(answer.state === 'answered' && answer.value.kind, 'warm');
      assert.equal(server.calls.length, 1);
    });

  const malformedAnswers: [name: string, step: fake.Step, complaint: RegExp][] = [
    ['no JSON', write('red'), /- the answer is not JSON/],
    ['an object that never ends', write('{"name":"red"'), /- the answer is not JSON/],
    ['nothing', fake.message({ content: null }), /- the answer is not JSON/],
    [
      'an object with a value of another type',
      write('{"name":7,"kind":"warm"}'),
      /- name: Input should be a valid string/,
    ],
    [
      'an object with an unknown word',
      write('{"name":"red","kind":"hot"}'),
      /- kind: Input should be one of warm, cold/,
    ],
    [
      'an object with one property too many',
      write('{"name":"r","kind":"warm","__proto__":{}}'),
      /- __proto__: Extra inputs/,
    ],
    ['a list', write('[]'), /- Input should be a valid object/],
    [
      'an object with NUL in a text',
      write('{"name":"r\\u0000","kind":"warm"}'),
      /- a text holds control characters/,
    ],
    [
      'an object with a lone surrogate',
      write('{"name":"r\\ud800","kind":"warm"}'),
      /- a text holds control characters/,
    ],
    [
      'an object with a text that reorders the text around it',
      write('{"name":"\\u202ered","kind":"warm"}'),
      /- a text holds/,
    ],
  ];
  for (const [name, step, complaint] of malformedAnswers)
    it(`structured questions are repeated once, with the faults of the answer, if the answer is ${name}`, async () => {
      server.next(step);
      assert.deepEqual(await ask(), { state: 'answered', value: RED, usage: usageOfTwoCalls, model: 'm' });
      assert.equal(server.calls.length, 2);
      const messages = lastMessages();
      assert.deepEqual(messages.slice(0, 2), question.messages);
      assert.match(messages.at(-1)?.content ?? '', complaint);
    });

  it('structured questions fail after a second malformed answer', async () => {
    server.respond(write('red'));
    const error = await faultOf(ask());
    assert.deepEqual([error.fault, error.message], ['failed', 'unusable answer: not the answer format']);
    assert.equal(server.calls.length, 2);
  });

  it('structured questions name at most three faults of an answer when they are repeated', async () => {
    server.next(write('{"a":1,"b":2,"c":3,"d":4}'));
    await ask();
    assert.equal(lastMessages().at(-1)?.content.match(/^- /gm)?.length, 3);
  });

  it('structured questions are not repeated after a cut-off answer', async () => {
    server.respond(write(JSON.stringify(RED), 'length'));
    const error = await faultOf(ask());
    assert.deepEqual([error.fault, error.message], ['failed', 'unusable answer: cut off at the token limit']);
    assert.equal(server.calls.length, 1);
  });

  it('a structured question that the model refuses, at first or when asked again, ends as refused', async () => {
    for (const step of [fake.refusal(), fake.contentFilter()]) {
      server.next(step);
      assert.deepEqual(await ask(), { state: 'refused', usage, model: 'm' });
    }
    server.next(write('red'), fake.refusal());
    assert.deepEqual(await ask(), { state: 'refused', usage: usageOfTwoCalls, model: 'm' });
  });

  it('a structured question and its repetition share one time limit, and no repetition begins in the last 250 ms', async () => {
    server.next(fake.delay(200, write('red')), fake.hang());
    const since = performance.now();
    assert.equal((await faultOf(ask({ timeoutMs: 600 }))).fault, 'timeout');
    assert.ok(performance.now() - since < 1500);
    server.reset();
    server.next(fake.delay(100, write('red')));
    assert.equal((await faultOf(ask({ timeoutMs: 300 }))).fault, 'failed');
    assert.equal(server.calls.length, 1);
  });

  it('structured questions fail with the abort reason, even during the repetition', async () => {
    server.next(write('red'), fake.hang());
    const abort = new AbortController();
    const answer = ask({ signal: abort.signal });
    const upstream = await server.called(2);
    abort.abort('superseded');
    await assert.rejects(answer, (error) => error === 'superseded');
    await upstream.aborted;
  });

  it('structured questions fall back to JSON without a schema, then to plain text, and remember what worked', async () => {
    server.next(refuseFormat("Invalid parameter: 'response_format' of type 'json_schema' is not supported"));
    assert.equal((await ask()).state, 'answered');
    assert.match(
      lastMessages()[0]?.content ?? '',
      /^Name a colour\.\n\nAnswer with JSON only: .*"additionalProperties"/s,
    );
    assert.equal((await ask()).state, 'answered');
    assert.deepEqual(formats(), ['json_schema', 'json_object', 'json_object']);
    server.next(refuseFormat('response_format is unknown', 422));
    assert.equal((await ask()).state, 'answered');
    assert.equal((await ask()).state, 'answered');
    assert.deepEqual(formats().slice(3), ['json_object', undefined, undefined]);
  });
});
