import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signUp, type UserClient } from '../support/account.ts';
import { runAdmin } from '../support/admin.ts';
import { fetchPublished } from '../support/client.ts';
import { add, fillMemoryTables, forget, setProfile } from '../support/memory.ts';
import { promote, say } from '../support/promotion.ts';
import { event } from '../support/recording.ts';
import { replyBody } from '../support/replies.ts';
import { type System, startSystem } from '../support/system.ts';

interface ExportLine {
  type: string;
  data: Record<string, unknown>;
}

const exportOf = async (person: UserClient): Promise<ExportLine[]> => {
  const headers = { authorization: `Bearer ${person.access}` };
  const response = await fetchPublished(`${person.url}/api/export/`, { headers });
  const text = await response.text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
};

const LOCAL = { DEFAULT_MODEL: 'local', SUPPORTED_MODELS: 'local' };

/** Lines that belong to the account or the installation. An import takes the others. */
const NOT_IMPORTED = ['account', 'key', 'log_in', 'access', 'connection', 'provider_call'];
const contentOf = (lines: readonly ExportLine[]) =>
  lines
    .filter(({ type }) => !NOT_IMPORTED.includes(type))
    .map(({ type, data }) => ({ type, data: type === 'session' ? { ...data, owner: null } : data }));

describe('import of an export', () => {
  let here: System;
  let elsewhere: System;
  let folder: string;
  before(async () => {
    [here, elsewhere, folder] = await Promise.all([
      startSystem({ workerEntry: ['workers/main.ts', 'all'], env: LOCAL }),
      startSystem({ workerEntry: ['workers/main.ts', 'all'], env: LOCAL }),
      mkdtemp(join(tmpdir(), 'forecue-export-')),
    ]);
  });
  after(() => Promise.all([here?.stop(), elsewhere?.stop(), rm(folder, { recursive: true })]));

  const importInto = async (system: System, user: UserClient, lines: readonly ExportLine[]) => {
    const file = join(folder, `${user.id}.jsonl`);
    await writeFile(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { stdout } = await runAdmin(['import', '--user', user.email, '--json', file], {
      DATABASE_URL: system.database.url,
    });
    return JSON.parse(stdout).files[0];
  };

  /** Records, promotes, corrects, deletes and predicts: an account with rows of every kind. */
  const livedIn = async (system: System) => {
    const person = await signUp(system);
    await say(person, [
      'My name is Ada.',
      'I live in Oslo.',
      'agent:Which editor?',
      'I use Vim as my editor.',
    ]);
    await say(person, ['I use Helix as my editor.'], { session_id: 's-2', at: Date.UTC(2026, 5, 1, 12) });
    const session = `session-${person.id}`;
    const events = ['kept', 'forgotten'].map((text, n) =>
      event({ id: `${person.id}-${n}`, session_id: session, type: 'user.message', text: `I ${text} it.` }),
    );
    assert.equal((await person.post('/api/recording/events/', events)).status, 201);
    await person.post('/api/memory/sync/', {});
    for (const tier of ['episodes', 'facts'] as const) {
      const { status, text } = await promote(person, tier, { model: 'local' });
      assert.equal(status, 200, text);
    }
    await setProfile(system, person, 'writes kindly', { tone: 'kind' });
    const fact = await add(person, 'facts', { text: 'Drinks tea', pinned: true, tags: ['drinks'] });
    await person.request('PATCH', `/api/memory/facts/${fact.id}/`, { text: 'Drinks green tea' });
    const { body: raw } = await person.get<{ results: { id: string; content: string }[] }>(
      '/api/memory/raw/',
    );
    const row = raw.results.find(({ content }) => content === 'I forgotten it.');
    if (row === undefined) throw new Error('the event made no row');
    await forget(person, 'raw', row);
    const predicted = await person.post<{ id: string }>('/api/predictions/predict/', replyBody());
    await person.post(`/api/predictions/${predicted.body.id}/feedback/`, { status: 'accepted' });
    return person;
  };

  it('an export that is imported into another installation gives the same export there, and a sync adds nothing', async () => {
    const person = await livedIn(here);
    const exported = await exportOf(person);
    const types = new Set(exported.map(({ type }) => type));
    for (const type of [
      'session',
      'mark',
      'event',
      'profile',
      'raw',
      'episode',
      'fact',
      'link',
      'prediction',
    ])
      assert.ok(types.has(type), type);
    const twin = await signUp(elsewhere);
    const { failed, invalid, problems } = await importInto(elsewhere, twin, exported);
    assert.deepEqual([failed, invalid, problems], [null, 0, []]);
    assert.deepEqual(contentOf(await exportOf(twin)), contentOf(exported));
    const { body: synced } = await twin.post<{ created: number }>('/api/memory/sync/', {});
    assert.equal(synced.created, 0);
    const again = await importInto(elsewhere, twin, exported);
    assert.equal(again.stored, 0);
    const { body: found } = await twin.get<{ results: { text: string }[] }>('/api/memory/facts/?q=editor');
    assert.equal(found.results[0]?.text, 'I use Helix as my editor.');
  });

  it('an export that is imported again does not bring back what the person deleted since, nor rows of others', async () => {
    const person = await signUp(here);
    await fillMemoryTables(here, person);
    const exported = await exportOf(person);
    for (const tier of ['facts', 'episodes', 'raw'] as const) {
      const { body } = await person.get<{ results: { id: string }[] }>(`/api/memory/${tier}/`);
      for (const row of body.results)
        if ((await person.get(`/api/memory/${tier}/${row.id}/`)).status === 200)
          await forget(person, tier, row);
    }
    const { stored, skipped, failed } = await importInto(here, person, exported);
    assert.deepEqual([stored, failed], [0, null]);
    assert.ok(skipped >= 3, `${skipped} were skipped`);
    assert.deepEqual(contentOf(await exportOf(person)), []);

    const other = await livedIn(here);
    const foreign = await importInto(here, person, await exportOf(other));
    assert.equal(foreign.stored, 1, 'the profile');
    assert.ok(foreign.problems.length > 0);
  });
});
