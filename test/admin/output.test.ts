import assert from 'node:assert/strict';
import { explain } from '../../bin/admin/admin-error.ts';
import { table } from '../../bin/admin/text.ts';

describe('output of the command line', () => {
  it('a table of the command line may have 200,000 rows', () => {
    const users = Array.from({ length: 200_000 }, (_, n) => ({ id: n, name: 'Ada' }));
    assert.equal(table(users, ['id', 'name']).split('\n').at(-1), '199999  Ada');
  });

  it('the command line reports a statement timeout of PostgreSQL as "a statement took too long"', () => {
    const cancelled = Object.assign(new Error('canceling statement due to statement timeout'), {
      code: '57014',
    });
    assert.match(explain(cancelled), /^a statement took too long, /);
  });
});
