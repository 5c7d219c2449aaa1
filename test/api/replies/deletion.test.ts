import assert from 'node:assert/strict';
import type { ReplyDetail } from '../../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import { when } from '../../support/fake-provider.ts';
import { add, forget } from '../../support/memory.ts';
import { addReply, predictSuccessfully, proposeReplies } from '../../support/replies.ts';
import { useSystem } from '../../support/system.ts';
import { tablesWith } from '../../support/tables-with.ts';

const SECRET = 'The spare key lies under the third blue flowerpot';

describe('deletion of memory', () => {
  const system = useSystem();
  let ann: UserClient;
  beforeEach(async () => {
    ann = await signUp(system);
  });

  const read = async ({ id }: { id: string }) => (await ann.get<ReplyDetail>(`/api/predictions/${id}/`)).body;

  it('deleting a raw row erases the texts of predictions that repeat the row, but not their confidences', async () => {
    const row = await add(ann, 'raw', { content: SECRET, kind: 'note' });
    system.provider.respond(
      proposeReplies([
        { response: 'Look under the third blue flowerpot' },
        { response: 'No idea', likelihood: 'unlikely' },
      ]),
    );
    const reply = await predictSuccessfully(ann, { k: 2, agent_input: 'Where is the spare key?' });
    await forget(ann, 'raw', row);
    const left = await read(reply);
    assert.deepEqual([left.predicted_response, left.reasoning], ['', '']);
    assert.deepEqual(
      left.candidates,
      reply.candidates.map(({ confidence }) => ({ response: '', confidence, reasoning: '' })),
    );
    assert.deepEqual([left.confidence, left.status], [reply.confidence, reply.status]);
    assert.deepEqual(await tablesWith(system, 'third blue flowerpot'), []);
  });

  it('deleting a raw row erases the texts of predictions that repeat memory derived from the row', async () => {
    const row = await add(ann, 'raw', { content: SECRET, kind: 'note', occurred_at: '2026-01-01T00:00:00Z' });
    const episode = await add(ann, 'episodes', { title: 'Keys', summary: 'About keys', raw_ids: [row.id] });
    await add(ann, 'facts', {
      text: 'Hides a key under the third blue flowerpot',
      episode_ids: [episode.id],
    });
    system.provider.respond(proposeReplies([{ response: 'Under the third blue flowerpot' }]));
    await predictSuccessfully(ann, { agent_input: 'Is the spare key under the third blue flowerpot?' });
    await forget(ann, 'raw', row);
    assert.deepEqual(await tablesWith(system, 'third blue flowerpot'), []);
  });

  it('deleting a fact erases the texts of predictions that repeat the fact', async () => {
    const fact = await add(ann, 'facts', { text: SECRET });
    system.provider.respond(proposeReplies([{ response: 'Under the third blue flowerpot' }]));
    await predictSuccessfully(ann);
    await forget(ann, 'facts', fact);
    assert.deepEqual(await tablesWith(system, 'third blue flowerpot'), []);
  });

  it('a reply prediction is escalated without candidates if a fact that it uses is deleted meanwhile', async () => {
    const fact = await add(ann, 'facts', { text: SECRET });
    const answer = Promise.withResolvers<void>();
    const asked = system.provider.calls.length;
    system.provider.respond(
      when(answer.promise, proposeReplies([{ response: 'Under the third blue flowerpot' }])),
    );
    const running = predictSuccessfully(ann, { threshold: 0 });
    await system.provider.called(asked + 1);
    await forget(ann, 'facts', fact);
    answer.resolve();
    const { status, predicted_response, candidates, reasoning } = await running;
    assert.deepEqual([status, predicted_response, candidates], ['escalated', '', []]);
    assert.match(reasoning, /deleted meanwhile/);
    assert.deepEqual(await tablesWith(system, 'third blue flowerpot'), []);
  });

  it('deleting a short reply erases the texts of predictions that contain it, once no other raw row says the same', async () => {
    const asked = 'What is the code of the door?';
    const own = [];
    for (const place of [1, 2]) own.push(await addReply(ann, asked, 'Use 4711-Blueberry', place));
    system.provider.respond(
      proposeReplies([{ response: 'Please use 4711-Blueberry for both of the doors' }]),
    );
    const reply = await predictSuccessfully(ann, { agent_input: asked });
    const [first, last] = own;
    assert.ok(first && last);
    await forget(ann, 'raw', first);
    assert.equal((await read(reply)).predicted_response, reply.predicted_response);
    await forget(ann, 'raw', last);
    assert.equal((await read(reply)).predicted_response, '');
    assert.deepEqual(await tablesWith(system, 'Blueberry'), []);
  });

  it('deleting one of two raw rows with the same text keeps the predictions that repeat the text', async () => {
    const asked = 'Where is the spare key?';
    const [first] = [await addReply(ann, asked, SECRET, 1), await addReply(ann, asked, SECRET, 2)];
    system.provider.respond(proposeReplies([{ response: SECRET }]));
    const reply = await predictSuccessfully(ann, { agent_input: asked });
    await forget(ann, 'raw', first);
    assert.equal((await read(reply)).predicted_response, SECRET);
  });

  it('deleting memory keeps predictions that do not repeat the deleted text', async () => {
    const row = await add(ann, 'raw', { content: SECRET, kind: 'note' });
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    const reply = await predictSuccessfully(ann);
    await forget(ann, 'raw', row);
    assert.equal((await read(reply)).predicted_response, 'Blue');
  });
});
