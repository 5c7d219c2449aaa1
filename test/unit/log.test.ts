import assert from 'node:assert/strict';
import { createLog } from '../../shared/log.ts';

describe('log', () => {
  for (const code of ['EPIPE', 'EBUSY', 'EPERM', 'ECONNREFUSED'])
    it(`the log keeps the message of an ${code} error, since it comes from the system and not from PostgreSQL`, () => {
      assert.equal(
        loggedError(Object.assign(new Error('write failed'), { code }))['message'],
        'write failed',
      );
    });

  it("the log contains no message of an error from PostgreSQL, since the message may repeat a person's text", () => {
    const refused = Object.assign(new Error('Key (text)=(a secret) exists'), { code: '23505' });
    for (const error of [refused, new Error(refused.message, { cause: refused })])
      assert.equal('message' in loggedError(error), false);
  });
});

/** Returns an error as it appears in a log line. */
function loggedError(err: Error): Record<string, unknown> {
  const lines: string[] = [];
  createLog('test', 'info', { write: (line) => lines.push(line) }).info({ err });
  return JSON.parse(lines.join('')).err;
}
