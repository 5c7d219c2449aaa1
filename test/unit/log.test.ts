import assert from 'node:assert/strict';
import { createLog } from '../../shared/log.ts';

describe('log', () => {
  for (const code of ['EPIPE', 'EBUSY', 'EPERM', 'ECONNREFUSED'])
    it(`the log keeps the message of an ${code} error, since it comes from the system and not from PostgreSQL`, () => {
      assert.equal(loggedError(Object.assign(new Error('write failed'), { code })).message, 'write failed');
    });

  it("the log contains no message of an error from PostgreSQL, since the message may repeat a person's text", () => {
    const refused = Object.assign(new Error('Key (text)=(a secret) exists'), { code: '23505' });
    for (const error of [refused, new Error(refused.message, { cause: refused })])
      assert.equal('message' in loggedError(error), false);
  });

  it('the log of an error contains its cause and, if the cause is an AggregateError, the first five of its errors', () => {
    const refusals = Array.from({ length: 9 }, (_, n) =>
      Object.assign(new Error(`connect ECONNREFUSED ::${n}`), { code: 'ECONNREFUSED' }),
    );
    const cause = new AggregateError(refusals, '');
    const logged = loggedError(new Error('fetch failed', { cause }));
    assert.equal(logged.message, 'fetch failed');
    assert.deepEqual(
      logged.cause?.errors?.map(({ code, message }) => [code, message]),
      refusals.slice(0, 5).map(({ message }) => ['ECONNREFUSED', message]),
    );
  });

  it('the log line of an error whose cause is itself has fewer than 10,000 characters', () => {
    const error = new Error('round');
    error.cause = error;
    assert.ok(JSON.stringify(loggedError(error)).length < 10_000);
  });

  it('the log of an AggregateError contains no message of a PostgreSQL error, and masks secrets in other messages', () => {
    const refused = Object.assign(new Error('Key (text)=(a secret) exists'), { code: '23505' });
    const other = new Error('postgres://ann:hunter2@db.example is down');
    const frameless = Object.assign(new Error(), {
      message: other.message,
      stack: `Error: ${other.message}`,
    });
    const sum = new AggregateError([refused, new Error('x', { cause: refused }), other, frameless], 'failed');
    const logged = JSON.stringify(loggedError(sum));
    assert.match(logged, /is down/);
    assert.doesNotMatch(logged, /a secret|hunter2/);
  });
});

interface LoggedError {
  code?: string;
  message?: string;
  cause?: LoggedError;
  errors?: LoggedError[];
}

function loggedError(err: Error): LoggedError {
  const lines: string[] = [];
  createLog('test', 'info', { write: (line) => lines.push(line) }).info({ err });
  return JSON.parse(lines.join('')).err;
}
