import assert from 'node:assert/strict';
import Type from 'typebox';
import { pageLimit } from '../../../shared/schemas/common.ts';
import { compileQuery } from '../../../shared/schemas/validator.ts';

describe('compileQuery', () => {
  const check = compileQuery(Type.Object({ limit: pageLimit(200, 50), tag: Type.Optional(Type.String()) }));

  it('compileQuery accepts an integer parameter at its bounds, and fills in the default of a missing parameter', () => {
    assert.deepEqual(check({}), { ok: true, value: { limit: 50 } });
    for (const limit of [1, 200])
      assert.deepEqual(check({ limit: `${limit}` }), { ok: true, value: { limit } });
  });

  it('compileQuery converts only integer parameters, leaves others as text, and does not change its input', () => {
    const sent = { limit: '7', tag: '7', other: '7' };
    assert.deepEqual(check(sent), { ok: true, value: { limit: 7, tag: '7', other: '7' } });
    assert.deepEqual(sent, { limit: '7', tag: '7', other: '7' });
  });

  it('compileQuery refuses an integer parameter out of bounds with an error that states the bound', () => {
    for (const [limit, type, ctx] of [
      ['0', 'greater_than_equal', { ge: 1 }],
      ['-1', 'greater_than_equal', { ge: 1 }],
      ['201', 'less_than_equal', { le: 200 }],
    ] as const) {
      const result = check({ limit });
      assert.ok(!result.ok);
      const [fault] = result.faults;
      assert.deepEqual([fault?.loc, fault?.type, fault?.ctx], [['query', 'limit'], type, ctx]);
    }
  });

  it('compileQuery refuses an integer parameter that is repeated, has 16 digits or is not a plain integer', () => {
    for (const limit of ['', 'x', '1.5', '01', '+1', '-0', '0x10', '1e2', ' 1', '9'.repeat(16), ['1', '2']]) {
      const result = check({ limit });
      assert.ok(!result.ok);
      assert.deepEqual(
        result.faults.map(({ type }) => type),
        ['int_type'],
        `${limit}`,
      );
    }
  });
});
