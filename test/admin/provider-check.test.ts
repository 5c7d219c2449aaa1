import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { checkProvider } from '../../bin/admin/checks.ts';
import { useServer } from '../support/listening.ts';

describe("doctor's provider check", () => {
  let status: number;
  let received: (string | undefined)[];

  const provider = useServer(
    createServer((request, response) => {
      received.push(request.url, request.headers.authorization);
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('{"data":[]}');
    }),
  );
  beforeEach(() => {
    received = [];
  });

  const checkKey = async (answer: number) => {
    status = answer;
    const baseUrl = `${provider.url}/v1`;
    const finding = await checkProvider({ defaultModel: 'm', openai: { apiKey: 'sk-secret', baseUrl } });
    assert.doesNotMatch(JSON.stringify(finding), /secret/);
    return finding;
  };

  it("the doctor checks the API key by requesting the provider's list of models", async () => {
    const { ok, found } = await checkKey(200);
    assert.ok(ok);
    assert.match(found, /^m at 127\.0\.0\.1:\d+, which accepts the key$/);
    assert.deepEqual(received, ['/v1/models', 'Bearer sk-secret']);
  });

  for (const [answer, toDo] of [
    [401, /^correct OPENAI_API_KEY$/],
    [403, /^correct OPENAI_API_KEY$/],
    [404, /^correct OPENAI_BASE_URL/],
    [429, /limits/],
    [500, /status page/],
    [302, /OPENAI_BASE_URL/],
  ] as const)
    it(`the doctor says what to do if the provider answers ${answer}`, async () => {
      const { ok, to_do } = await checkKey(answer);
      assert.equal(ok, false);
      assert.match(to_do ?? '', toDo);
    });

  it('the doctor reports "no answer" if the provider cannot be reached', async () => {
    const baseUrl = 'http://127.0.0.1:9/v1';
    const finding = await checkProvider({ defaultModel: 'm', openai: { apiKey: 'sk-secret', baseUrl } });
    assert.equal(finding.ok, false);
    assert.match(finding.found, /^m at 127\.0\.0\.1:9: no answer/);
  });

  it('the doctor requires a default model, and an API key for every model except the built-in predictor', async () => {
    const look = (defaultModel: string | undefined) => checkProvider({ defaultModel, openai: undefined });
    assert.equal((await look('local')).ok, true);
    assert.equal((await look('m')).to_do, 'set OPENAI_API_KEY, or DEFAULT_MODEL to local');
    assert.equal((await look(undefined)).to_do, 'set DEFAULT_MODEL');
  });
});
