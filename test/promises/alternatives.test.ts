import assert from 'node:assert/strict';
import type { DraftResponse } from '../../shared/schemas/drafts.ts';
import { signUp } from '../support/account.ts';
import { type AppClient, predictionBody } from '../support/client.ts';
import { useSystem } from '../support/system.ts';

const THREE = { headers: { Prefer: 'alternatives=2' } };
const DISPLAY_STRING = /%"((?:[ !#$&-~]|%[0-9a-f]{2})*)"/g;

const messages = ['Zoë', 'Bärbel', 'Žofie'].map((name) => ({
  role: 'user',
  origin: 'human',
  content: `Please send the notes to ${name}`,
}));

describe('alternatives', () => {
  const system = useSystem({ env: { DEFAULT_MODEL: 'local', SUPPORTED_MODELS: 'local' } });
  let app: AppClient;
  beforeEach(async () => {
    app = await system.app();
  });

  const request = (text: string, part: object = {}) =>
    predictionBody({ draft: { text, revision: 1 }, messages, ...part });

  it('a request that prefers alternatives gets others beside the completion in a header, for one unit, and again when it is repeated', async () => {
    const body = request('Please send the notes to ');
    const plain = await app.predict(request('Please send the notes to '));
    assert.equal(plain.headers.get('forecue-alternatives'), null);
    const first = await app.predict(body, THREE);
    assert.deepEqual(Object.keys(first.body), Object.keys(plain.body));
    const list = first.headers.get('forecue-alternatives') ?? '';
    const others = Array.from(list.matchAll(DISPLAY_STRING), ([, text = '']) => decodeURIComponent(text));
    assert.ok(others.length > 0 && list.split(', ').length === others.length, list);
    assert.match(list, /%c[35]%[0-9a-f]{2}/);
    assert.equal(new Set([first.body.completion, ...others]).size, 1 + others.length);
    assert.equal((await app.usage()).body.prediction_units, 1);
    const again = await app.predict(body, THREE);
    assert.equal(again.text, first.text);
    assert.equal(again.headers.get('forecue-alternatives'), list);
    assert.equal((await app.predict(body)).headers.get('forecue-alternatives'), null);
  });

  it('the first preference of a name counts, and none in the quoted value of another', async () => {
    const countOf = async (prefer: string) => {
      const { headers } = await app.predict(request('Please send the notes to '), {
        headers: { Prefer: prefer },
      });
      return Array.from((headers.get('forecue-alternatives') ?? '').matchAll(DISPLAY_STRING)).length;
    };
    assert.equal(await countOf('wait, Alternatives="2"; a=b, alternatives=0'), 2);
    assert.equal(await countOf('x="a, alternatives=2"'), 0);
    assert.equal(await countOf('x="a\\", alternatives=0", alternatives=2'), 2);
    for (const bad of ['alternatives', 'alternatives=-1', 'alternatives=1.5', 'alternatives="', '"'])
      assert.equal(await countOf(bad), 0, bad);
  });

  it('an agent that asks for an approval gets short answers as choices of the next prompt', async () => {
    const question = { role: 'assistant', origin: 'agent', content: 'Shall I run the tests?' };
    const answered = { role: 'user', origin: 'human', content: 'yes, with coverage' };
    const asked = [question, answered, question, answered, question];
    const { headers, body } = await app.predict(request('', { mode: 'next_prompt', messages: asked }), THREE);
    assert.equal(body.completion, 'yes, with coverage');
    assert.equal(headers.get('forecue-alternatives'), '%"yes", %"no"');
  });

  it("a draft of the account's own has alternatives in its answer", async () => {
    const ann = await signUp(system);
    const { body } = await ann.post<DraftResponse>('/api/predictions/draft/', {
      draft: 'Please send the notes to Z',
      messages,
    });
    assert.equal(body.completion, 'oë');
    assert.ok(Array.isArray(body.alternatives));
  });
});
