import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signUp, type UserClient } from '../support/account.ts';
import { runAdmin } from '../support/admin.ts';
import { useSystem } from '../support/system.ts';

/** A conversation of ChatGPT in which the person and the agent take turns. */
function conversationOf(id: string, messages: number): object {
  const nodes = Array.from({ length: messages }, (_, n) => {
    const role = n % 2 === 0 ? 'user' : 'assistant';
    const content = {
      content_type: 'text',
      parts: [`Message ${n} of ${id} about ${'some plans '.repeat(20)}`],
    };
    const said = {
      author: { role },
      content,
      recipient: 'all',
      end_turn: role === 'assistant',
      metadata: {},
    };
    const message = { ...said, id: `${id}-${n}`, create_time: 1_772_359_200 + n };
    return [`${id}-${n}`, { parent: n === 0 ? null : `${id}-${n - 1}`, message }] as const;
  });
  return {
    conversation_id: id,
    title: id,
    mapping: Object.fromEntries(nodes),
    current_node: nodes.at(-1)?.[0],
  };
}

describe('import command', () => {
  const system = useSystem({ workers: 0 });
  let path: string;
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
    path = join(await mkdtemp(join(tmpdir(), 'forecue-imports-')), 'transcript');
  });
  afterEach(() => rm(join(path, '..'), { recursive: true }));

  it('20,000 messages of a ChatGPT export are recorded in 60 s', async () => {
    const conversations = Array.from({ length: 200 }, (_, n) => conversationOf(`${person.id}-${n}`, 100));
    await writeFile(path, JSON.stringify(conversations));
    const args = ['import', '--user', person.email, '--json', path];
    const start = performance.now();
    const { stdout } = await runAdmin(args, { DATABASE_URL: system.database.url });
    const tookMs = performance.now() - start;
    // Each session has a start and an end.
    assert.equal(JSON.parse(stdout).files[0].stored, 20_000 + 2 * 200);
    assert.ok(tookMs < 60_000, `it took ${Math.round(tookMs)} ms`);
  });
});
