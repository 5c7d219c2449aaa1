import assert from 'node:assert/strict';
import type { FactResponse, MemorySource, RawMemoryResponse } from '../../shared/schemas/memory.ts';
import { signUp, type UserClient } from '../support/account.ts';
import {
  addEpisode,
  byAgent,
  currentTexts,
  factsOf,
  proposeFacts,
  recordOf,
} from '../support/facts-promotion.ts';
import { hang, json, message, refusal, status, when } from '../support/fake-provider.ts';
import { add, forget } from '../support/memory.ts';
import { pluck } from '../support/pluck.ts';
import { promote } from '../support/promotion.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

const PNPM = { text: 'Uses pnpm as package manager', quote: 'We use pnpm', slot: 'tool.package_manager' };
const NPM = { text: 'Uses npm as package manager', quote: 'We use npm', slot: 'tool.package_manager' };

describe('promotion to facts', () => {
  const system = useSystem({
    apart: true,
    workerEntry: ['workers/main.ts', 'memory'],
    env: { LEASE_MS: '3000', SUPPORTED_MODELS: 'fake-model,local' },
  });
  let ann: UserClient;
  beforeEach(async () => {
    system.provider.reset();
    system.provider.respond(proposeFacts());
    ann = await signUp(system);
  });

  const promotionResult = async (body = {}) => {
    const reply = await promote(ann, 'facts', body);
    assert.equal(reply.status, 200, reply.text);
    return reply.body;
  };
  const readFact = async ({ id }: { id: string }) =>
    (await ann.get<FactResponse & { sources: MemorySource[] }>(`/api/memory/facts/${id}/`)).body;

  it("a promotion to facts makes a fact of the person's statement, with the quote and its source", async () => {
    const { episode: one, rows } = await addEpisode(ann, [byAgent('Which one?'), 'We use pnpm, since 2024.']);
    system.provider.respond(proposeFacts({ ...PNPM, valid_from: '2024-01-01' }));
    const { ids, latency_ms, ...result } = await promotionResult();
    assert.deepEqual(result, {
      created: 1,
      updated: 0,
      skipped: 0,
      considered: 1,
      model: 'fake-model',
      usage: { input_tokens: 12, output_tokens: 5 },
    });
    const [fact] = await factsOf(ann);
    assert.deepEqual(ids, [fact?.id]);
    assert.deepEqual(
      [fact?.text, fact?.kind, fact?.slot, fact?.origin, fact?.model, fact?.valid_from, fact?.episode_ids],
      [PNPM.text, 'preference', PNPM.slot, 'model', 'fake-model', '2024-01-01T00:00:00.000Z', [one.id]],
    );
    const { sources } = await readFact({ id: ids[0] ?? '' });
    assert.deepEqual(
      sources.find(({ tier }) => tier === 'raw'),
      { tier: 'raw', id: rows[1]?.id, quote: 'We use pnpm' },
    );
    assert.ok(latency_ms >= 0);
  });

  it('a promotion to facts without new episodes asks no model and changes nothing #promotion-repeat', async () => {
    await addEpisode(ann, ['We use pnpm']);
    system.provider.respond(proposeFacts(PNPM));
    await promotionResult();
    const before = await factsOf(ann);
    const { latency_ms: _, ...again } = await promotionResult();
    assert.deepEqual(again, {
      created: 0,
      updated: 0,
      skipped: 0,
      considered: 0,
      ids: [],
      model: 'fake-model',
      usage: { input_tokens: 0, output_tokens: 0 },
    });
    assert.equal(system.provider.calls.length, 1);
    assert.deepEqual(await factsOf(ann), before);
  });

  it('a forced promotion to facts asks the model again, and does not duplicate facts with the same quotes', async () => {
    await addEpisode(ann, ['We use pnpm', 'I live in Lisbon']);
    const city = { text: 'Lives in Lisbon', quote: 'I live in Lisbon', slot: 'identity.city' };
    system.provider.respond(proposeFacts(PNPM, city));
    assert.equal((await promotionResult()).created, 2);
    const same = await promotionResult({ force: true });
    assert.deepEqual([same.created, same.updated, same.skipped, same.considered], [0, 0, 1, 1]);
    system.provider.respond(proposeFacts({ ...PNPM, text: 'Installs packages with pnpm' }, city));
    const { created, updated } = await promotionResult({ force: true });
    assert.deepEqual([created, updated], [0, 0], 'the same value of the same slot');
    assert.deepEqual(await currentTexts(ann), ['Lives in Lisbon', PNPM.text]);
  });

  it('a forced promotion to facts can reword a fact, whose former wording is kept', async () => {
    await addEpisode(ann, ['I like short answers without much ado']);
    system.provider.respond(proposeFacts({ text: 'Likes short answers', quote: 'I like short answers' }));
    const { ids } = await promotionResult();
    const better = {
      text: 'Likes short answers without ado',
      quote: 'I like short answers without much ado',
    };
    system.provider.respond(proposeFacts(better));
    const again = await promotionResult({ force: true });
    assert.deepEqual([again.created, again.updated, again.ids], [0, 1, ids]);
    assert.deepEqual(await currentTexts(ann), [better.text]);
    const { body } = await ann.get<{ results: FactResponse[] }>(`/api/memory/facts/?revision_of=${ids[0]}`);
    assert.deepEqual(pluck(body.results, 'text'), ['Likes short answers']);
  });

  it('a promotion to facts adds a quote to a fact that the person states again, and makes no second fact', async () => {
    await addEpisode(ann, ['We use pnpm'], 1);
    system.provider.respond(proposeFacts(PNPM));
    const { ids } = await promotionResult();
    await addEpisode(ann, ['As I said: We use pnpm, always'], 2);
    const again = await promotionResult();
    assert.deepEqual([again.created, again.updated, again.ids], [0, 1, ids]);
    assert.equal(
      (await readFact({ id: ids[0] ?? '' })).sources.filter(({ tier }) => tier === 'raw').length,
      2,
    );
  });

  it('a later statement supersedes the earlier one that it contradicts, whichever becomes a fact first', async () => {
    for (const [first, second] of [
      [1, 2],
      [2, 1],
    ] as const) {
      ann = await signUp(system);
      system.provider.respond(proposeFacts(NPM, PNPM));
      await addEpisode(ann, [first === 1 ? 'We use npm' : 'We use pnpm now'], first);
      await promotionResult();
      await addEpisode(ann, [second === 1 ? 'We use npm' : 'We use pnpm now'], second);
      await promotionResult();
      const facts = await factsOf(ann);
      const [npm, pnpm] = [NPM, PNPM].map(({ text }) => facts.find((fact) => fact.text === text));
      assert.deepEqual([pnpm?.superseded_by, pnpm?.valid_to, pnpm?.invalidated_at], [null, null, null]);
      assert.deepEqual([npm?.superseded_by, npm?.valid_to], [pnpm?.id, pnpm?.valid_from]);
      assert.ok(npm?.invalidated_at);
    }
  });

  for (const isLearntFirst of [false, true])
    it(`a fact that is promoted ${isLearntFirst ? 'after' : 'before'} the announcement of a change is valid until the change`, async () => {
      const [begins, slot] = ['2999-12-01T00:00:00.000Z', 'home.city'];
      const oslo = { text: 'Lives in Oslo', quote: 'I move to Oslo', slot, valid_from: begins };
      const [berlin, kiel] = ['Berlin', 'Kiel'].map((city) => `I live in ${city}`);
      const present = [berlin, kiel].map((quote = '') => ({ text: quote, quote, slot }));
      system.provider.respond(proposeFacts(oslo, ...present));
      const learn = async (said = '', day = 1) => {
        const { rows } = await addEpisode(ann, [said], day);
        await promotionResult();
        return { id: rows[0]?.id ?? '' };
      };
      const holding = async () => {
        const { body } = await ann.post<{ facts: FactResponse[] }>('/api/memory/context/', {});
        return body.facts.map(({ text, valid_to }) => [text, valid_to]);
      };
      if (!isLearntFirst) await learn(berlin, 1);
      const announced = await learn(oslo.quote, 2);
      if (isLearntFirst) await learn(berlin, 1);
      assert.deepEqual(await holding(), [[berlin, begins]]);
      const moved = await learn(kiel, 3);
      assert.deepEqual(await holding(), [[kiel, begins]]);
      await forget(ann, 'raw', moved);
      assert.deepEqual(await holding(), [[berlin, begins]]);
      await forget(ann, 'raw', announced);
      assert.deepEqual(await holding(), [[berlin, null]]);
    });

  it('a fact that a client stored without sources survives the deletion of a row that says the same', async () => {
    const own = await add(ann, 'facts', { text: PNPM.text });
    const { rows } = await addEpisode(ann, ['We use pnpm']);
    system.provider.respond(proposeFacts(PNPM));
    assert.deepEqual([(await promotionResult()).updated, (await readFact(own)).sources], [0, []]);
    await forget(ann, 'raw', { id: rows[0]?.id ?? '' });
    assert.deepEqual(await currentTexts(ann), [PNPM.text]);
  });

  it('a fact gets at most 500 quotes', async () => {
    await addEpisode(ann, ['We use pnpm'], 1);
    system.provider.respond(proposeFacts(PNPM));
    const { ids } = await promotionResult();
    await system.sql(
      `insert into memory_links (account_id, from_id, to_id, relation, from_tier, to_tier, quote)
       select $1, $2, gen_random_uuid(), 'derived_from', 'fact', 'raw', 'We use pnpm' from generate_series(1, 499)`,
      [ann.id, ids[0]],
    );
    await addEpisode(ann, ['As I said: We use pnpm, always'], 2);
    assert.equal((await promotionResult()).skipped, 1);
    const { sources } = await readFact({ id: ids[0] ?? '' });
    assert.equal(sources.filter(({ quote }) => quote !== null).length, 500);
  });

  it('a promotion to facts shows the model the facts that share a word with the rows, even a word with ß, ø, ł or æ', async () => {
    const words = ['Königstraße', 'Tromsø', 'Łódź', 'Ærøskøbing', "O'Neil"];
    for (const word of words) await add(ann, 'facts', { text: `Remembers ${word}` });
    await addEpisode(ann, ['Königstraße, Tromsø, Łódź, Ærøskøbing, Oʼneil: I was there, or not']);
    await promotionResult();
    const { facts } = recordOf(await system.provider.called(1));
    assert.deepEqual(pluck(facts, 'text').sort(), words.map((word) => `Remembers ${word}`).sort());
  });

  it('a promotion that makes nothing leaves the memory revision unchanged', async () => {
    await addEpisode(ann, ['Good morning']);
    const readRevision = async () => {
      const sql = 'select memory_revision::int as revision from accounts where id = $1';
      return Number((await system.sql(sql, [ann.id]))[0]?.['revision']);
    };
    const before = await readRevision();
    const { body } = await promote(ann, 'episodes');
    assert.deepEqual([body.skipped, (await promotionResult()).skipped], [1, 1]);
    assert.equal(await readRevision(), before);
  });

  it('a fact that a client stored or pinned supersedes a promoted fact that contradicts it', async () => {
    const own = await add(ann, 'facts', { text: 'My package manager is npm' });
    await addEpisode(ann, ['We use pnpm']);
    system.provider.respond(proposeFacts(PNPM));
    await promotionResult();
    assert.deepEqual(await currentTexts(ann), [own.text]);
    const contradicting = (await factsOf(ann)).find(({ text }) => text === PNPM.text);
    assert.equal(contradicting?.superseded_by, own.id);
    // Deleting the person's own fact makes the contradicting fact valid.
    assert.equal((await forget(ann, 'facts', own)).facts.restored, 1);
    assert.deepEqual(await currentTexts(ann), [PNPM.text]);

    const pinned = contradicting?.id;
    await ann.request('PATCH', `/api/memory/facts/${pinned}/`, { pinned: true });
    await addEpisode(ann, ['We use npm'], 9);
    system.provider.respond(proposeFacts(NPM));
    await promotionResult();
    assert.deepEqual(await currentTexts(ann), [PNPM.text]);
  });

  it('a fact that a client changed to another topic does not supersede a new fact on the former topic', async () => {
    const cityOf = (name: string) => ({
      text: `Lives in ${name}`,
      quote: `I live in ${name}`,
      slot: 'identity.city',
    });
    const [lisbon, bergen] = [cityOf('Lisbon'), cityOf('Bergen')];
    await addEpisode(ann, [lisbon.quote]);
    system.provider.respond(proposeFacts(lisbon));
    await promotionResult();
    const [fact] = await factsOf(ann);
    const change = { text: 'Was born in Lisbon' };
    await ann.request('PATCH', `/api/memory/facts/${fact?.id}/`, change);
    await addEpisode(ann, [bergen.quote], 2);
    system.provider.respond(proposeFacts(bergen));
    await promotionResult();
    assert.deepEqual(await currentTexts(ann), [bergen.text, change.text]);
  });

  it('a promotion to facts does not make a deleted fact again from the same source', async () => {
    await addEpisode(ann, ['We use pnpm', 'I live in Lisbon']);
    const city = { text: 'Lives in Lisbon', quote: 'I live in Lisbon' };
    system.provider.respond(proposeFacts(PNPM, city));
    await promotionResult();
    const gone = (await factsOf(ann)).find(({ text }) => text === PNPM.text);
    await forget(ann, 'facts', { id: gone?.id ?? '' });
    for (const text of [PNPM.text, 'Likes pnpm']) {
      system.provider.respond(proposeFacts({ ...PNPM, text }, city));
      assert.equal((await promotionResult({ force: true })).created, 0);
      assert.deepEqual(await currentTexts(ann), [city.text]);
    }
    // The deletion leaves one tombstone, so that the same source does not make the fact again.
    const rows = await system.sql(
      `select from memory_links where account_id = $1 and relation = 'forgotten'`,
      [ann.id],
    );
    assert.equal(rows.length, 1);
  });

  const coffee = 'I prefer dark roast coffee in the morning.';
  const ways: Record<string, (fact: FactResponse, row: RawMemoryResponse) => Promise<unknown>> = {
    deleted: (fact) => forget(ann, 'facts', fact),
    corrected: ({ id }) =>
      ann.request('PATCH', `/api/memory/facts/${id}/`, { text: 'I prefer light roast coffee at noon.' }),
    superseded: async ({ id }) =>
      ann.request('PATCH', `/api/memory/facts/${id}/`, {
        superseded_by: (await add(ann, 'facts', { text: 'I prefer black tea.' })).id,
      }),
    'deleted with its row': (_, row) => forget(ann, 'raw', row),
  };
  for (const [way, forgetIt] of Object.entries(ways))
    it(`a statement that a person ${way} is learnt from nothing said before, and from what they say afterwards`, async () => {
      const local = (body: object = {}) => promotionResult({ model: 'local', ...body });
      const { rows } = await addEpisode(ann, [coffee]);
      await local();
      const [fact] = await factsOf(ann);
      assert.ok(fact && rows[0]);
      await forgetIt(fact, rows[0]);
      // A file that is imported later, and a row with a time to come, which was stored before.
      await addEpisode(
        ann,
        ['As for me,\nI prefer dark roast coffee in the mornings! My dog is called Rex.'],
        2,
      );
      await addEpisode(ann, ['I prefer dark roast beef in the evening.'], 3);
      for (const force of [false, true]) await local({ force });
      const texts = await currentTexts(ann);
      assert.deepEqual(
        texts.filter((text) => /dark roast coffee/.test(text)),
        [],
      );
      assert.ok(
        texts.includes('My dog is called Rex.') && texts.some((text) => /beef/.test(text)),
        `${texts}`,
      );

      await addEpisode(ann, [{ content: coffee, kind: 'reply', occurred_at: new Date().toISOString() }], 4);
      await local();
      assert.ok((await currentTexts(ann)).includes(coffee));
    });

  it('a model that words a forgotten statement in another way does not bring it back, and other values are learnt', async () => {
    await addEpisode(ann, ['We use pnpm']);
    system.provider.respond(proposeFacts(PNPM));
    const { ids } = await promotionResult();
    await forget(ann, 'facts', { id: ids[0] ?? '' });
    await addEpisode(ann, ['pnpm it is for packages here', 'My editor is Zed', 'npm for packages'], 2);
    system.provider.respond(
      proposeFacts(
        { ...PNPM, text: 'Prefers pnpm', quote: 'pnpm it is for packages here' },
        { text: 'Edits with Zed', quote: 'My editor is Zed', slot: 'tool.editor' },
        { ...NPM, quote: 'npm for packages' },
      ),
    );
    await promotionResult();
    assert.deepEqual(await currentTexts(ann), ['Edits with Zed', NPM.text]);
    const kept = await system.sql<{ entry: string }>(
      `select to_json(e)::text as entry from erasures e where account_id = $1`,
      [ann.id],
    );
    assert.ok(kept.length > 0 && !/pnpm/i.test(JSON.stringify(kept)));
  });

  it('a promotion to facts makes no fact of a secret or of an invented quote', async () => {
    await addEpisode(ann, ['my password is hunter2 and I keep it']);
    const quotes = ['my password is hunter2', 'nobody said this'];
    system.provider.respond(
      proposeFacts(...quotes.map((quote) => ({ text: quote, quote, evidence: [{ source: 1, quote }] }))),
    );
    const { created, skipped } = await promotionResult();
    assert.deepEqual([created, skipped], [0, 1]);
    assert.deepEqual(await factsOf(ann), []);
  });

  it('a promotion to facts asks no model about episodes in which the person says nothing', async () => {
    await addEpisode(ann, [byAgent('I did it')]);
    await add(ann, 'episodes', { title: 'By hand', summary: 'Uses pnpm' });
    const { created, skipped, considered } = await promotionResult();
    assert.deepEqual([created, skipped, considered], [0, 2, 2]);
    assert.equal(system.provider.calls.length, 0);
  });

  it("a promotion to facts stores only the three most salient facts of a model's answer", async () => {
    const said = Array.from({ length: 20 }, (_, n) => `I am fond of topic number ${n}x, truly.`);
    await addEpisode(ann, said);
    const facts = said.map((quote, n) => ({ text: `Is fond of topic number ${n}x`, quote, salience: n }));
    system.provider.respond(proposeFacts(...facts));
    assert.equal((await promotionResult()).created, 3);
    assert.deepEqual(
      await currentTexts(ann),
      [17, 18, 19].map((n) => `Is fond of topic number ${n}x`),
    );
  });

  describe('when the provider fails', () => {
    const assertNothingPromoted = async () => {
      assert.deepEqual(await factsOf(ann), []);
      const { body } = await ann.get<{ results: { promoted_at: string | null }[] }>('/api/memory/episodes/');
      assert.deepEqual([...new Set(pluck(body.results, 'promoted_at'))], [null]);
    };
    for (const [name, step, code, answered] of [
      ['its key is refused', status(401), 'provider_not_configured', 503],
      ['its limit is reached', status(429), 'provider_rate_limited', 429],
      ['it answers nonsense', message({ content: '{"facts":[{"text":1}]}' }), 'provider_failed', 502],
      ['its answer is no completion', json({}), 'provider_failed', 502],
    ] as const)
      it(`a promotion to facts changes nothing when the provider fails: ${name}`, async () => {
        await addEpisode(ann, ['We use pnpm']);
        system.provider.respond(step);
        const reply = await promote(ann, 'facts');
        assert.deepEqual([reply.status, reply.code], [answered, code]);
        await assertNothingPromoted();
        system.provider.respond(proposeFacts(PNPM));
        assert.equal((await promotionResult()).created, 1);
      });

    it("a promotion to facts makes no fact of a model's refusal", async () => {
      await addEpisode(ann, ['We use pnpm']);
      system.provider.respond(refusal());
      assert.deepEqual([(await promotionResult()).skipped, (await factsOf(ann)).length], [1, 0]);
    });
  });

  it('a promotion to facts uses no row that is deleted during the model call', async () => {
    const { rows } = await addEpisode(ann, ['We use pnpm', 'My sister is called Ada']);
    const sister = { text: 'Has a sister, Ada', quote: 'My sister is called Ada' };
    const asked = Promise.withResolvers<void>();
    const deleted = Promise.withResolvers<void>();
    system.provider.next(async (response, call) => {
      asked.resolve();
      await deleted.promise;
      await proposeFacts(PNPM, { ...sister, text: 'Uses pnpm, and has a sister, Ada', quote: PNPM.quote })(
        response,
        call,
      );
    });
    system.provider.respond(proposeFacts(PNPM, sister));
    const running = promotionResult();
    await asked.promise;
    // The episode was posted by a client, so its text stays.
    await forget(ann, 'raw', { id: rows[1]?.id ?? '' });
    deleted.resolve();
    assert.equal((await running).created, 1);
    assert.deepEqual(await currentTexts(ann), [PNPM.text]);
    assert.equal(system.provider.calls.length, 2);
  });

  it('if a worker is killed during a promotion to facts, another worker continues the promotion', async () => {
    for (let n = 0; n < 9; n += 1) await addEpisode(ann, [`I like flavour ${n}x`], n + 1);
    const likes = Array.from({ length: 9 }, (_, n) => ({
      text: `Likes flavour ${n}x`,
      quote: `flavour ${n}x`,
    }));
    system.provider.next(proposeFacts(...likes), hang());
    system.provider.respond(proposeFacts(...likes));
    const running = promotionResult();
    await system.provider.called(2);
    const [victim] = system.workers.splice(0, 1);
    await victim?.kill();
    await system.startWorker();
    const { created, considered } = await running;
    assert.deepEqual([created, considered], [9, 9]);
    assert.equal((await factsOf(ann)).length, 9);
    assert.equal(system.provider.calls.length, 3);
  });

  it('a fact whose text was erased is rewritten by the next promotion from its remaining sources, or deleted', async () => {
    const { rows } = await addEpisode(ann, [
      'my sister Ada lives at number nine Elm Street',
      'I have a sister, by the way',
    ]);
    const [gone, left] = rows;
    const told = {
      text: 'Has a sister, Ada, who lives at number nine Elm Street',
      quote: gone?.content ?? '',
    };
    const both = [gone, left].map((row, at) => ({ source: at + 1, quote: row?.content ?? '' }));
    system.provider.respond(proposeFacts({ ...told, evidence: both }));
    const { ids } = await promotionResult();
    assert.equal((await forget(ann, 'raw', { id: gone?.id ?? '' })).facts.stale, 1);
    system.provider.respond(proposeFacts({ text: 'Has a sister', quote: 'I have a sister' }));
    const anew = await promotionResult();
    assert.deepEqual([anew.created, anew.updated, anew.ids], [0, 1, ids]);
    const { text, stale_at, sources } = await readFact({ id: ids[0] ?? '' });
    assert.deepEqual([text, stale_at], ['Has a sister', null]);
    assert.deepEqual(
      sources.filter(({ tier }) => tier === 'raw').map(({ id }) => id),
      [left?.id],
    );
    assert.equal((await promotionResult()).considered, 0);

    await system.sql(`update facts set text = '', stale_at = now() where id = $1`, [ids[0]]);
    system.provider.respond(proposeFacts());
    await promotionResult();
    assert.deepEqual(await factsOf(ann), []);
  });

  describe('without a model', () => {
    const local = (body: object = {}) => promotionResult({ model: 'local', ...body });

    it("a promotion to facts without a model makes extractive facts of the person's sentences", async () => {
      const { episode: one, rows } = await addEpisode(ann, [
        byAgent('I always use npm, do you?'),
        'Not me. I always use pnpm as my package manager. Yes, go ahead!',
        'Please never force-push.',
      ]);
      const { ids, created, usage } = await local();
      assert.deepEqual([created, usage.input_tokens, system.provider.calls.length], [2, 0, 0]);
      const facts = await factsOf(ann);
      assert.deepEqual(pluck(facts, 'id').sort(), ids.toSorted());
      const pnpm = facts.find(({ slot }) => slot === 'tool.package_manager');
      const text = 'I always use pnpm as my package manager.';
      assert.deepEqual(
        [pnpm?.text, pnpm?.origin, pnpm?.model, pnpm?.confidence, pnpm?.valid_from, pnpm?.episode_ids],
        [text, 'extractive', null, 0.6, rows[1]?.occurred_at, [one.id]],
      );
      const { sources } = await readFact({ id: pnpm?.id ?? '' });
      assert.deepEqual(sources.find(({ tier }) => tier === 'raw')?.quote, text);
      assert.ok(
        facts.some((fact) => fact.text === 'Says: "Please never force-push."' && fact.kind === 'constraint'),
      );
    });

    it('a promotion to facts without a model keeps the part of a sentence that no later sentence contradicts', async () => {
      await addEpisode(ann, ['My name is Kat Smith and I work at Acme.'], 1);
      await addEpisode(ann, ['I work at Initech now.'], 2);
      await local();
      assert.deepEqual(await currentTexts(ann), ['I work at Initech now.', 'My name is Kat Smith']);
      const facts = await factsOf(ann);
      await local({ force: true });
      assert.deepEqual(await factsOf(ann), facts);
    });

    it('a promotion to facts without a model supersedes old values, and merges equal values', async () => {
      await addEpisode(ann, ['I always use npm as my package manager.'], 1);
      await addEpisode(ann, ['My package manager is npm.'], 2);
      await addEpisode(ann, ['I have switched from npm to pnpm as my package manager.'], 3);
      const { created, updated, considered } = await local();
      assert.deepEqual([created, updated, considered], [2, 0, 3]);
      assert.deepEqual(await currentTexts(ann), ['I have switched from npm to pnpm as my package manager.']);
      const facts = await factsOf(ann);
      for (const force of [false, true]) assert.equal((await local({ force })).created, 0);
      assert.deepEqual(await factsOf(ann), facts);
    });
  });

  it('of concurrent promotions to facts of an account one runs at a time, beside those of others, and one asks the model #one-at-a-time', async () => {
    const another = await system.startWorker();
    const bob = await signUp(system);
    for (const person of [ann, bob]) await addEpisode(person, ['We use pnpm']);
    const free = Promise.withResolvers<void>();
    system.provider.respond(when(free.promise, proposeFacts(PNPM)));
    const runningOf = async ({ id }: UserClient) =>
      (await system.sql(`select from work where party = $1 and state = 'running'`, [id])).length;
    const promotions = Array.from({ length: 8 }, () => promotionResult());
    await system.provider.called(1);
    const other = promote(bob, 'facts');
    await until(async () => (await runningOf(bob)) === 1);
    assert.equal(await runningOf(ann), 1);
    free.resolve();
    const created = pluck(await Promise.all(promotions), 'created');
    assert.deepEqual(created.toSorted(), [...Array(7).fill(0), 1]);
    assert.equal((await other).body.created, 1);
    assert.equal(system.provider.calls.length, 2);
    await another.stop();
  });

  it('a promotion to facts takes the oldest episodes after `since`, at most `limit` of them', async () => {
    for (const day of [1, 2, 3]) await addEpisode(ann, [`I like flavour ${day}x`], day);
    const likes = [1, 2, 3].map((day) => ({ text: `Likes flavour ${day}x`, quote: `flavour ${day}x` }));
    system.provider.respond(proposeFacts(...likes));
    assert.equal((await promotionResult({ limit: 1 })).considered, 1);
    assert.deepEqual(await currentTexts(ann), ['Likes flavour 1x']);
    assert.equal((await promotionResult({ since: '2026-05-03T00:00:00Z' })).considered, 1);
    assert.deepEqual(await currentTexts(ann), ['Likes flavour 1x', 'Likes flavour 3x']);
    assert.equal((await promotionResult()).considered, 1);
  });
});
