import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { hang } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const STREAMS = 20;
/** Comments, one a second, that a stream must send. They take longer than a silent connection stays open. */
const COMMENTS = 4;

describe('event streams', () => {
  const system = useSystem({ workerEntry: ['workers/main.ts', 'all'], env: { SEND_TIMEOUT_MS: '3000' } });
  let person: UserClient;
  /** Keeps answers referenced: garbage collection would close their streams. */
  const held: Response[] = [];
  before(async () => {
    // The jobs wait for the provider, so their streams stay open.
    system.provider.respond(hang());
    person = await withMemory();
  });

  const withMemory = async () => {
    const one = await signUp(system);
    const rows = [
      { content: 'Shall I use tabs?', kind: 'prompt' },
      { content: 'I always indent with two spaces.', kind: 'reply' },
    ];
    assert.equal((await one.request('POST', '/api/memory/raw/', rows)).status, 201);
    return one;
  };

  const open = async (one: UserClient, cut: AbortSignal) => {
    const answer = await fetch(`${one.url}/api/memory/promote/episodes/`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${one.access}`,
        accept: 'text/event-stream',
        'content-type': 'application/json',
        'idempotency-key': 'one job',
        prefer: 'wait',
      },
      body: '{}',
      signal: cut,
    });
    if (answer.status === 200) held.push(answer);
    else await answer.text();
    return answer.status;
  };

  it('an account can have 20 event streams open, and closing them makes room for a new one', async () => {
    const cut = new AbortController();
    for (let n = 0; n < STREAMS; n += 1) assert.equal(await open(person, cut.signal), 200);
    assert.equal(await open(person, cut.signal), 503);
    const other = new AbortController();
    assert.equal(await open(await withMemory(), other.signal), 200);
    cut.abort();
    await until(async () => (await open(person, other.signal)) === 200);
    other.abort();
  });

  it('an event stream of a job without progress stays open for longer than SEND_TIMEOUT_MS', async () => {
    const one = await withMemory();
    const cut = new AbortController();
    assert.equal(await open(one, cut.signal), 200);
    let streamed = '';
    for await (const chunk of held.at(-1)?.body ?? []) {
      streamed += Buffer.from(chunk).toString();
      if (streamed.split('\n:\n').length > COMMENTS) break;
    }
    cut.abort();
    assert.ok((streamed.match(/^:$/gm) ?? []).length >= COMMENTS, streamed);
  });
});
