import assert from 'node:assert/strict';
import { newId } from '../../../shared/ids.ts';
import type { ValidationErrorBody } from '../../../shared/schemas/errors.ts';
import { MIB } from '../../../shared/schemas/limits.ts';
import type { EpisodeResponse, RawMemoryResponse } from '../../../shared/schemas/memory.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import { add, forget } from '../../support/memory.ts';
import { pluck } from '../../support/pluck.ts';
import { useSystem } from '../../support/system.ts';

const RAW = '/api/memory/raw/';
const EPISODES = '/api/memory/episodes/';
const MOMENT = '2026-05-01T12:00:00Z';
const EPISODE = { title: 'Build', summary: 'The build moved', started_at: MOMENT, ended_at: MOMENT };

const CONTENTS = [
  'Café Größe für den Übergang',
  'The deployment pipeline failed because of a timeout',
  'Bitte 100% der Kosten_stelle\\Nord melden',
  '明日の会議は東京で行います',
  'Nothing of that kind',
];

describe('memory rows', () => {
  const system = useSystem({ workers: 0 });
  let person: UserClient;
  beforeEach(async () => {
    person = await signUp(system);
  });

  const validationErrorsOf = async (path: string, body: object | string, method = 'POST') => {
    const reply = await person.request<ValidationErrorBody>(method, path, body);
    assert.equal(reply.status, 422, `${JSON.stringify(body).slice(0, 100)} was answered ${reply.text}`);
    return reply.body.detail.map(({ loc, type }) => `${loc.join('.')} ${type}`);
  };
  const countOf = async (path: string) => {
    const { body } = await person.get<{ results: unknown[] }>(`${path}?limit=200`);
    return body.results.length;
  };

  describe('raw rows', () => {
    it('memory rows keep every tag unchanged, and can be filtered by each tag', async () => {
      const tags = ['null', 'NULL', ' blank ', 'a,\n\tb', '{}', '"', '\\', '\\"', '’'];
      const rows = {
        raw: { content: 'c' },
        episodes: EPISODE,
        facts: { text: 't' },
      };
      for (const [tier, row] of Object.entries(rows) as [keyof typeof rows, object][]) {
        const { id } = await add(person, tier, { ...row, tags });
        for (const tag of tags) {
          const path = `/api/memory/${tier}/?tag=${encodeURIComponent(tag)}`;
          const { body } = await person.get<{ results: { id: string; tags: string[] }[] }>(path);
          assert.deepEqual(body.results.find((one) => one.id === id)?.tags, tags, tag);
        }
      }
    });

    it('a raw row is stored with defaults for absent fields, and reading the row returns the same values', async () => {
      const before = Date.now();
      const row = await add(person, 'raw', { content: 'Café, please', tags: ['a', 'b', 'a'] });
      assert.ok(Date.parse(row.occurred_at) >= before - 1 && Date.parse(row.occurred_at) <= Date.now());
      const { id, occurred_at, created_at, ...rest } = row;
      assert.deepEqual(rest, {
        content: 'Café, please',
        kind: 'other',
        role: null,
        origin: 'unknown',
        agent: null,
        session_id: null,
        source: 'api',
        event_id: null,
        project: null,
        tags: ['a', 'b'],
        metadata: {},
        promoted_at: null,
      });
      assert.deepEqual((await person.get(`${RAW}${id}/`)).body, row);
    });

    it("a raw row's role and origin follow from its kind and agent, unless the client states them", async () => {
      const speaker = async (part: object) => {
        const { role, origin } = await add(person, 'raw', { content: 'c', ...part });
        return `${role} ${origin}`;
      };
      assert.equal(await speaker({ kind: 'reply' }), 'human human');
      assert.equal(await speaker({ kind: 'note' }), 'human human');
      assert.equal(await speaker({ kind: 'prompt', agent: 'coder' }), 'agent agent');
      assert.equal(await speaker({ kind: 'message' }), 'human human');
      assert.equal(await speaker({ kind: 'message', agent: 'coder' }), 'agent agent');
      assert.equal(
        await speaker({ kind: 'reply', origin: 'accepted_prediction' }),
        'human accepted_prediction',
      );
      assert.equal(await speaker({ role: 'tool' }), 'tool unknown');
    });

    it('a posted list of 1 to 200 raw rows is stored and returned in order, or not stored at all', async () => {
      const contents = Array.from({ length: 200 }, (_, place) => `row ${place}`);
      const rows = contents.map((content) => ({ content }));
      const { status, body } = await person.post<RawMemoryResponse[]>(RAW, rows);
      assert.equal(status, 201);
      assert.deepEqual(pluck(body, 'content'), contents);
      const listed = await person.get<{ results: RawMemoryResponse[] }>(`${RAW}?limit=200`);
      assert.deepEqual(pluck(listed.body.results, 'content'), contents.toReversed());

      assert.deepEqual(await validationErrorsOf(RAW, []), ['body too_short']);
      assert.deepEqual(await validationErrorsOf(RAW, [...rows, { content: 'one more' }]), ['body too_long']);
      const faults = await validationErrorsOf(RAW, rows.toSpliced(77, 1, { content: '' }));
      assert.deepEqual(faults, ['body.77.content string_too_short']);
      const faultyTimes = [{ content: 'c' }, { content: 'c', occurred_at: '1999-12-31T23:59:59Z' }];
      assert.deepEqual(await validationErrorsOf(RAW, faultyTimes), ['body.1.occurred_at value_error']);
      assert.equal(await countOf(RAW), 200);
    });

    it('an invalid raw row is 422, and the validation error names the field', async () => {
      const soon = new Date(Date.now() + 25 * 3600 * 1000).toISOString();
      const refused: [object | string, string][] = [
        [{}, 'body.content missing'],
        [{ content: 1 }, 'body.content string_type'],
        [{ content: 'x'.repeat(8001) }, 'body.content string_too_long'],
        [{ content: 'a\0b' }, 'body.content value_error'],
        ['{"content":"\\ud800"}', 'body.content value_error'],
        ['{"content":"c","__proto__":{}}', 'body.__proto__ extra_forbidden'],
        ['{"content":"c","metadata":{"a":[{"__proto__":1}]}}', 'body.metadata value_error'],
        ['{"content":"c","metadata":{"a":1e400}}', 'body.metadata value_error'],
        [{ content: 'c', metadata: { a: '\0' } }, 'body.metadata value_error'],
        [{ content: 'c', metadata: { a: 'x'.repeat(8000) } }, 'body.metadata value_error'],
        [{ content: 'c', tags: ['x'.repeat(81)] }, 'body.tags.0 string_too_long'],
        [{ content: 'c', tags: Array(51).fill('t') }, 'body.tags too_long'],
        [{ content: 'c', kind: 'thought' }, 'body.kind enum'],
        [{ content: 'c', occurred_at: soon }, 'body.occurred_at value_error'],
        [{ content: 'c', occurred_at: '2026-05-01 12:00:00Z' }, 'body.occurred_at datetime_parsing'],
        [{ content: 'c', event_id: 'e' }, 'body.event_id extra_forbidden'],
        [{ content: 'c', id: newId() }, 'body.id extra_forbidden'],
      ];
      for (const [body, fault] of refused) assert.deepEqual(await validationErrorsOf(RAW, body), [fault]);
      assert.deepEqual(await validationErrorsOf(RAW, '"text"'), ['body dict_type']);
      assert.equal(await countOf(RAW), 0);
    });

    it('the length limits of raw rows count code points', async () => {
      const content = '😀'.repeat(8000);
      const metadata = { note: '😀'.repeat(7989) };
      const row = await add(person, 'raw', { content, metadata });
      assert.deepEqual([row.content, row.metadata], [content, metadata]);
      const longer = { content, metadata: { note: `${metadata.note}!` } };
      assert.deepEqual(await validationErrorsOf(RAW, longer), ['body.metadata value_error']);
    });

    it('a time after the year 9999 in UTC is 422, in a body and in a query of /api', async () => {
      const late = '9999-12-31T23:59:59-01:00';
      const parsing = (field: string) => [`${field} datetime_parsing`];
      assert.deepEqual(
        await validationErrorsOf(RAW, { content: 'c', occurred_at: late }),
        parsing('body.occurred_at'),
      );
      assert.deepEqual(
        await validationErrorsOf('/api/memory/facts/', { text: 'f', valid_to: late }),
        parsing('body.valid_to'),
      );
      for (const list of [RAW, EPISODES, '/api/memory/facts/', '/api/predictions/']) {
        const { status, body } = await person.get<{ detail: { loc: string[] }[] }>(`${list}?since=${late}`);
        assert.deepEqual([list, status, body.detail[0]?.loc], [list, 422, ['query', 'since']]);
      }
      const last = '9999-12-31T23:59:59.999Z';
      assert.equal((await add(person, 'facts', { text: 'f', valid_to: last })).valid_to, last);
    });
  });

  describe('episodes', () => {
    it('an episode may name only raw rows of its own account', async () => {
      const [one, two] = [
        await add(person, 'raw', { content: 'a' }),
        await add(person, 'raw', { content: 'b' }),
      ];
      const foreign = await add(await signUp(system), 'raw', { content: 'c' });
      const episode = await add(person, 'episodes', { ...EPISODE, raw_ids: [two.id, one.id, two.id] });
      assert.deepEqual(episode.raw_ids.toSorted(), [one.id, two.id].toSorted());
      assert.deepEqual(
        { status: episode.status, origin: episode.origin, salience: episode.salience },
        { status: 'draft', origin: 'human', salience: 0.5 },
      );
      const read = await person.get<EpisodeResponse>(`${EPISODES}${episode.id}/`);
      assert.deepEqual(read.body.raw_ids, [one.id, two.id].sort());

      const path = `${EPISODES}${episode.id}/`;
      for (const id of [foreign.id, newId()]) {
        const unknown = { ...EPISODE, raw_ids: [one.id, id] };
        assert.deepEqual(await validationErrorsOf(EPISODES, unknown), ['body.raw_ids.1 value_error']);
        assert.deepEqual(await validationErrorsOf(EPISODES, [EPISODE, unknown]), [
          'body.1.raw_ids.1 value_error',
        ]);
        assert.deepEqual(await validationErrorsOf(path, { raw_ids: [id] }, 'PATCH'), [
          'body.raw_ids.0 value_error',
        ]);
      }
      const twice = { ...EPISODE, raw_ids: [one.id, one.id, foreign.id] };
      assert.deepEqual(await validationErrorsOf(EPISODES, twice), ['body.raw_ids.2 value_error']);
      assert.deepEqual(await validationErrorsOf(EPISODES, { ...EPISODE, raw_ids: ['x'] }), [
        'body.raw_ids.0 uuid_parsing',
      ]);
      assert.equal(await countOf(EPISODES), 1);

      const changed = await person.request<EpisodeResponse>('PATCH', path, { raw_ids: [one.id] });
      assert.deepEqual(changed.body.raw_ids, [one.id]);
    });

    it('an episode that would end before it begins is 422, and the validation error names a field that was sent', async () => {
      const { id } = await add(person, 'episodes', EPISODE);
      const [before, after] = ['2026-05-01T11:00:00Z', '2026-05-01T13:00:00Z'];
      const errorsOf = (change: object) => validationErrorsOf(`${EPISODES}${id}/`, change, 'PATCH');
      assert.deepEqual(await validationErrorsOf(EPISODES, { ...EPISODE, ended_at: before }), [
        'body.ended_at value_error',
      ]);
      assert.deepEqual(await errorsOf({ ended_at: before }), ['body.ended_at value_error']);
      assert.deepEqual(await errorsOf({ started_at: after }), ['body.started_at value_error']);
      assert.deepEqual(await errorsOf({ started_at: after, ended_at: before }), [
        'body.ended_at value_error',
      ]);
    });

    it('a PATCH of an episode changes only the fields that it contains', async () => {
      const episode = await add(person, 'episodes', { ...EPISODE, tags: ['t'] });
      const path = `${EPISODES}${episode.id}/`;
      const { body } = await person.request<EpisodeResponse>('PATCH', path, { status: 'final', tags: [] });
      const { updated_at } = body;
      assert.deepEqual(body, { ...episode, status: 'final', tags: [], updated_at });
      assert.deepEqual((await person.request('PATCH', path, {})).body, body);
      assert.equal((await person.request('PATCH', `${EPISODES}${newId()}/`, {})).status, 404);
      for (const field of ['id', 'promoted_at', 'created_at', 'origin', 'stale_at'])
        assert.deepEqual(await validationErrorsOf(path, { [field]: MOMENT }, 'PATCH'), [
          `body.${field} extra_forbidden`,
        ]);
      for (const field of ['title', 'started_at', 'status'])
        assert.equal((await validationErrorsOf(path, { [field]: null }, 'PATCH')).length, 1);
    });
  });

  describe('memory lists', () => {
    interface Page {
      results: RawMemoryResponse[];
      next: string | null;
    }
    const page = async (query: string) => {
      const { status, text, body } = await person.get<Page>(`${RAW}?${query}`);
      assert.equal(status, 200, text);
      return body;
    };
    const contents = ({ results }: Page) => pluck(results, 'content').join();
    const at = (day: number) => `2026-05-0${day}T12:00:00Z`;

    it('a memory list is newest first, and paging neither skips nor repeats a row while others are added and deleted', async () => {
      // The first two have the same time.
      const rows = [1, 1, 2, 3, 4, 5].map((day, place) => ({ content: `${place}`, occurred_at: at(day) }));
      const { body: stored } = await person.post<RawMemoryResponse[]>(RAW, rows);
      const first = await page('limit=2');
      assert.equal(contents(first), '5,4');
      await add(person, 'raw', { content: 'late', occurred_at: at(9) });
      // Deletes the last row of the first page.
      await forget(person, 'raw', stored[4] ?? { id: '' });
      const second = await page(`limit=2&cursor=${first.next}`);
      assert.equal(contents(second), '3,2');
      const third = await page(`limit=2&cursor=${second.next}`);
      assert.equal(contents(third), '1,0');
      assert.equal(third.next, null);
    });

    it('a page of a memory list has at most 1 MiB, and paging neither skips nor repeats a row', async () => {
      const text = '\u0001'.repeat(8000);
      const ids = (rows: { id: string }[]) => pluck(rows, 'id').toSorted();
      const dates = { started_at: MOMENT, ended_at: MOMENT };
      const tiers = {
        raw: { content: text },
        episodes: { title: 'Long', summary: text, ...dates },
        facts: {
          text: text.slice(0, 2000),
          tags: Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(80, '\u0001')),
        },
      };
      for (const [tier, row] of Object.entries(tiers)) {
        const path = `/api/memory/${tier}/`;
        const posted: { id: string }[] = [];
        for (let batch = 0; batch < 5; batch++) {
          const { status, text, body } = await person.post<{ id: string }[]>(path, Array(10).fill(row));
          assert.equal(status, 201, text);
          posted.push(...body);
        }
        const listed: { id: string }[][] = [];
        for (let cursor = ''; ; ) {
          const query = `?limit=200${cursor && `&cursor=${cursor}`}`;
          const { body, text } = await person.get<Page>(`${path}${query}`);
          assert.ok(text.length <= MIB, `${text.length} bytes`);
          listed.push(body.results);
          if (body.next === null) break;
          cursor = body.next;
        }
        assert.ok(listed.length > 1 && listed.every(({ length }) => length > 1), tier);
        assert.deepEqual(ids(listed.flat()), ids(posted));
      }
    });

    it('memory lists can be filtered by time, session and tag', async () => {
      const rows = [1, 2, 3].map((day) => ({
        content: `${day}`,
        occurred_at: at(day),
        session_id: `s-${day % 2}`,
        tags: [`t-${day}`, 'all'],
      }));
      await person.post(RAW, rows);
      assert.equal(contents(await page(`since=${at(2)}`)), '3,2');
      assert.equal(contents(await page(`until=${at(2)}`)), '1');
      assert.equal(contents(await page('since=2026-05-02&until=2026-05-03')), '2');
      assert.equal(contents(await page(`since=${encodeURIComponent('2026-05-02T02:00:00+0200')}`)), '3,2');
      assert.equal(contents(await page('session_id=s-1')), '3,1');
      assert.equal(contents(await page('tag=t-2')), '2');
      assert.equal(contents(await page('tag=all&session_id=s-1&limit=1')), '3');
      const episode = { ...EPISODE, raw_ids: pluck((await page('tag=t-2')).results, 'id') };
      await add(person, 'episodes', episode);
      for (const [session, length] of [
        ['s-0', 1],
        ['s-1', 0],
      ]) {
        const { body } = await person.get<{ results: unknown[] }>(`${EPISODES}?session_id=${session}`);
        assert.equal(body.results.length, length);
      }
    });

    it('memory lists refuse invalid queries, and cursors of another account or list', async () => {
      await person.post(RAW, [{ content: 'a' }, { content: 'b' }]);
      const { next } = await page('limit=1');
      const cursor = next ?? '';
      const other = await signUp(system);
      const refused = [
        'limit=0',
        'limit=201',
        'limit=1.5',
        'since=yesterday',
        'since=2026-05-01 12:00:00Z',
        'since=0000-01-01T00:00:00Z',
        'since=2026-02-30',
        'since=0000-01-01',
        'since=2026-05-01T12:00:00%2B02',
        'until=0000-12-31T23:59:59Z',
        `cursor=${cursor}x`,
        `cursor=x${cursor.slice(1)}`,
        `cursor=${cursor.slice(0, -1)}`,
        `tag=${'x'.repeat(81)}`,
        'q=',
      ];
      for (const query of refused) {
        const { status, text } = await person.get(`${RAW}?${query}`);
        assert.equal(status, 422, `${query} ${text}`);
      }
      assert.equal((await other.get(`${RAW}?cursor=${cursor}`)).status, 422);
      assert.equal((await person.get(`${EPISODES}?cursor=${cursor}`)).status, 422);
      assert.equal((await page('since=0001-01-01T00:00:00Z')).results.length, 2);
    });
  });

  describe('memory search', () => {
    let reader: UserClient;
    before(async () => {
      reader = await signUp(system);
      const other = await signUp(system);
      for (const one of [reader, other])
        await one.post(
          '/api/memory/raw/',
          CONTENTS.map((content) => ({ content, tags: [one.id] })),
        );
      await add(reader, 'episodes', { title: 'Größe', summary: 'Café and deployment' });
      await add(reader, 'facts', { text: 'Prefers the café to the canteen' });
      await add(reader, 'facts', { text: 'Uses pnpm as package manager' });
      await add(reader, 'facts', { text: 'Uses a trackball' });
    });

    const foundIndexes = async (q: string, tier = 'raw', rest = '') => {
      const path = `/api/memory/${tier}/?q=${encodeURIComponent(q)}${rest}`;
      const { status, text, body } = await reader.get<{ results: { content: string }[] }>(path);
      assert.equal(status, 200, text);
      return body.results.map(({ content }) => CONTENTS.indexOf(content));
    };

    it('memory search finds words in any order, ignoring case and accents', async () => {
      assert.deepEqual(await foundIndexes('CAFE grosse'), [0]);
      assert.deepEqual(await foundIndexes('ubergang café'), [0]);
      assert.deepEqual(await foundIndexes('timeout deployment'), [1]);
      assert.deepEqual(await foundIndexes('zeppelin'), []);
    });

    it('memory search for a question finds rows with inflected words of the question, most relevant first', async () => {
      const { body } = await reader.get<{ results: { text: string }[] }>(
        `/api/memory/facts/?q=${encodeURIComponent('Which package manager should I be using?')}`,
      );
      const texts = pluck(body.results, 'text');
      assert.deepEqual(texts, ['Uses pnpm as package manager', 'Uses a trackball']);
      assert.deepEqual(await foundIndexes('Why did it fail to deploy?'), [1]);
      assert.deepEqual(await foundIndexes('timeout of the deployment, café'), [1, 0]);
    });

    it('paging through a memory search neither skips nor repeats a row, even while rows that do not match are added', async () => {
      const pager = await signUp(system);
      const words = ['alpha beta gamma', 'alpha', 'beta gamma', 'gamma', 'gamma beta alpha', 'alpha beta'];
      await pager.post(
        '/api/memory/raw/',
        words.map((content) => ({ content })),
      );
      const search = `/api/memory/raw/?limit=1&q=${encodeURIComponent('alpha beta gamma')}`;
      const listed: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await pager.get<{ results: { content: string }[]; next: string | null }>(
          `${search}${cursor}`,
        );
        listed.push(...pluck(body.results, 'content'));
        if (body.next === null) break;
        cursor = `&cursor=${body.next}`;
        await pager.post('/api/memory/raw/', { content: 'of something else' });
      }
      assert.deepEqual([...listed].sort(), [...words].sort());
      assert.deepEqual(listed.slice(0, 2).sort(), ['alpha beta gamma', 'gamma beta alpha']);
      assert.ok(listed.indexOf('beta gamma') < listed.indexOf('alpha'), listed.join(', '));
    });

    it('memory search refuses the cursor of a different search', async () => {
      const { body } = await reader.get<{ next: string }>('/api/memory/facts/?q=uses&limit=1');
      const status = async (rest: string) =>
        (await reader.get(`/api/memory/facts/?limit=1&cursor=${body.next}${rest}`)).status;
      assert.deepEqual([await status('&q=uses'), await status('&q=used'), await status('')], [200, 422, 422]);
    });

    it('memory search finds parts of words and misspelled words', async () => {
      assert.deepEqual(await foundIndexes('eploym'), [1]);
      assert.deepEqual(await foundIndexes('deploymnet'), [1]);
      assert.deepEqual(await foundIndexes('会議'), [3]);
    });

    it('memory search treats wildcards and operators as plain text', async () => {
      assert.deepEqual(await foundIndexes('100%'), [2]);
      assert.deepEqual(await foundIndexes('%'), [2]);
      assert.deepEqual(await foundIndexes('n_s'), [2]);
      assert.deepEqual(await foundIndexes('％'), [2]);
      assert.deepEqual(await foundIndexes('１００％'), [2]);
      assert.deepEqual(await foundIndexes('\\nord'), [2]);
      assert.deepEqual(await foundIndexes(`'" or & | ! ( <->`), []);
    });

    it('memory search finds no rows of other accounts, and can be combined with a tag filter', async () => {
      assert.deepEqual(await foundIndexes('café'), [0]);
      assert.deepEqual(await foundIndexes('café', 'raw', `&tag=${reader.id}`), [0]);
      assert.deepEqual(await foundIndexes('café', 'raw', '&tag=other'), []);
    });

    it('memory search finds episodes by title and summary, and facts by text', async () => {
      assert.equal((await foundIndexes('grosse deployment', 'episodes')).length, 1);
      assert.equal((await foundIndexes('canteen cafe', 'facts')).length, 1);
      assert.equal((await foundIndexes('deployment', 'facts')).length, 0);
    });
  });
});
