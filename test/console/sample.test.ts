import assert from 'node:assert/strict';
import { describeInBrowser } from '../support/browser.ts';
import { event, post } from '../support/recording.ts';
import { clientOf, goTo, loadSample, press, rowWith, signUpInBrowser, useConsole } from './visit.ts';

interface Row {
  id: string;
  project: string | null;
}

describeInBrowser('sample person of the console', () => {
  const at = useConsole();

  it("the sample person's rows are marked, and one click removes them and nothing of the person's own", async () => {
    const { person, page } = await signUpInBrowser(at);
    const client = await clientOf(at.system, person);
    const rowsOf = async (tier: string) =>
      (await client.get<{ results: Row[] }>(`/api/memory/${tier}/?limit=200`)).body.results;
    const say = async (content: string) =>
      assert.equal((await client.post('/api/memory/raw/', { content, kind: 'reply' })).status, 201);
    await say('I always want the tests in a folder of their own.');
    await client.post('/api/memory/facts/', { text: 'I drink tea.' });
    await loadSample(page);
    // The person says the same as the sample person, and goes on recording.
    await say('rebase, I never want merge commits');
    await post(client, [event({ type: 'note', text: 'I deploy on Mondays.' })]);
    for (const step of ['sync', 'promote/episodes', 'promote/facts'])
      assert.equal((await client.post(`/api/memory/${step}/`, {})).status, 200);
    await goTo(page, 'Memory');
    const isSample = ({ project }: Row) => project === 'sample';
    const raw = await rowsOf('raw');
    assert.equal(raw.filter(isSample).length, 32);
    const own = raw.filter((row) => !isSample(row)).map(({ id }) => id);
    assert.equal(own.length, 3);
    const ownFacts = (await rowsOf('facts')).filter((row) => !isSample(row)).map(({ id }) => id);
    await page.getByLabel('Project').selectOption('sample');
    await rowWith(page, 'coverage').waitFor();
    await rowWith(page, 'I drink tea.').waitFor({ state: 'detached' });

    await goTo(page, 'Bring sessions');
    await press(page, 'Remove the sample person');
    await page.getByText('The sample person is gone.').waitFor();
    assert.deepEqual(
      (await rowsOf('raw')).map(({ id }) => id),
      own,
    );
    assert.equal((await rowsOf('episodes')).filter(isSample).length, 0);
    const facts = await rowsOf('facts');
    assert.equal(facts.filter(isSample).length, 0);
    assert.deepEqual(
      ownFacts.filter((id) => !facts.some((fact) => fact.id === id)),
      [],
    );
    // It is one click away again.
    await loadSample(page);
  }).timeout(120_000);
});
