import assert from 'node:assert/strict';
import { checkBatch } from '../../../shared/domain/recording.ts';
import { event } from '../../support/recording.ts';

const NOW = Date.parse('2026-11-20T10:00:00Z');
const DATE_ERROR = 'occurred_at: Input should be a valid date and time with a zone';
const RANGE_ERROR = 'occurred_at: Input should be from 2000-01-01 on, and at most 24 hours ahead';

async function errorsOf(row: unknown): Promise<string[]> {
  const { invalid } = await checkBatch([row], NOW);
  return invalid.flatMap(({ errors }) => errors);
}

async function validRow(row: unknown) {
  const [valid] = (await checkBatch([row], NOW)).events;
  assert.ok(valid);
  return valid;
}

const eventOfType = (type: string, part: object) => {
  const { agent: _, prompt: __, ...envelope } = event();
  return { ...envelope, type, ...part };
};

describe('recording event schema', () => {
  it('the recording event schema requires the fields of each event type', async () => {
    const valid = [
      eventOfType('session.started', {}),
      eventOfType('session.stopped', {}),
      eventOfType('agent.prompt', { agent: 'a', prompt: '' }),
      eventOfType('agent.message', { agent: 'a', text: 't' }),
      eventOfType('user.reply', { agent: 'a', reply: 'r', in_reply_to: 'p' }),
      eventOfType('user.message', { text: 't' }),
      eventOfType('note', { text: 't' }),
      eventOfType('custom.anything at all', { payload: { any: ['thing'] } }),
    ];
    for (const row of valid) assert.deepEqual(await errorsOf(row), []);
    const missing = {
      'agent.prompt': ['agent', 'prompt'],
      'agent.message': ['agent', 'text'],
      'user.reply': ['agent', 'reply'],
      'user.message': ['text'],
      note: ['text'],
      'agent.permission': ['project', 'agent', 'tool'],
      'custom.x': ['payload'],
    };
    for (const [type, fields] of Object.entries(missing))
      assert.deepEqual(
        await errorsOf(eventOfType(type, {})),
        fields.map((field) => `${field}: Field required`),
      );
  });

  it('the recording event schema limits the lengths of fields in code points', async () => {
    for (const field of ['id', 'session_id', 'source', 'agent']) {
      assert.deepEqual(await errorsOf(event({ [field]: '🎈'.repeat(200) })), []);
      assert.match(
        (await errorsOf(event({ [field]: 'x'.repeat(201) }))).join(),
        new RegExp(`^${field}: .*at most 200`),
      );
      assert.match((await errorsOf(event({ [field]: '' }))).join(), new RegExp(`^${field}: .*at least 1`));
    }
    assert.deepEqual(await errorsOf(event({ prompt: '🎈'.repeat(64_000) })), []);
    assert.equal((await errorsOf(event({ prompt: 'x'.repeat(64_001) }))).length, 1);
    assert.deepEqual(await errorsOf(event({ source_detail: 'x'.repeat(2000) })), []);
    assert.equal((await errorsOf(event({ source_detail: 'x'.repeat(2001) }))).length, 1);
  });

  it('the recording event schema accepts a time with a zone and returns it in UTC to the millisecond', async () => {
    const times = {
      '2026-11-20T10:00:00Z': '2026-11-20T10:00:00.000Z',
      '2026-11-20t10:00:00.5z': '2026-11-20T10:00:00.500Z',
      '2026-11-20T10:00:00.123987+02:00': '2026-11-20T08:00:00.123Z',
      '2024-02-29T23:30:00-01:00': '2024-03-01T00:30:00.000Z',
      '2000-01-01T00:00:00Z': '2000-01-01T00:00:00.000Z',
      '2026-11-21T10:00:00Z': '2026-11-21T10:00:00.000Z',
    };
    for (const [occurred_at, normal] of Object.entries(times)) {
      const found = await validRow(event({ occurred_at }));
      assert.equal(found.occurredAt, normal);
      assert.equal(JSON.parse(found.body).occurred_at, normal);
    }
  });

  it('the recording event schema refuses an invalid time, or one without a zone', async () => {
    const times = [
      '2026-11-20T10:00:00',
      '2026-11-20T10:00:00+02',
      '2026-11-20 10:00:00Z',
      '2026-11-20',
      '2026-02-30T10:00:00Z',
      '2026-06-30T23:59:60Z',
      '2016-12-31T23:59:60Z',
      '2026-11-20T24:00:00Z',
      '2026-11-20T10:00Z',
      '10000-01-01T00:00:00Z',
      '+010000-01-01T00:00:00Z',
      '2026-11-20T10:00:00Z\n',
      'yesterday',
      '',
    ];
    for (const occurred_at of times)
      assert.deepEqual(await errorsOf(event({ occurred_at })), [DATE_ERROR], occurred_at);
    assert.deepEqual(await errorsOf(event({ occurred_at: 1_795_000_000 })), [
      'occurred_at: Input should be a valid string',
    ]);
  });

  it('the recording event schema refuses a time before the year 2000, and one more than 24 hours in the future', async () => {
    for (const occurred_at of [
      '1999-12-31T23:59:59.999Z',
      '2026-11-21T10:00:00.001Z',
      '9999-12-31T23:59:59Z',
    ])
      assert.deepEqual(await errorsOf(event({ occurred_at })), [RANGE_ERROR]);
  });

  it('the recording event schema keeps the unknown properties of an event, except received_at', async () => {
    const row = event({ extra: { deep: [1, null, 'x'] }, toJSON: 'x', constructor: 1, received_at: 'never' });
    const { received_at: _, ...kept }: Record<string, unknown> = row;
    assert.deepEqual(JSON.parse((await validRow(row)).body), {
      ...kept,
      occurred_at: '2026-05-01T12:00:00.000Z',
    });
    assert.doesNotMatch((await validRow(event({ text: 'a\nb\u2028c' }))).body, /\n/);
  });
});
