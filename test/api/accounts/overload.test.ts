import assert from 'node:assert/strict';
import { anonymously, signUp, someEmail, type UserClient } from '../../support/account.ts';
import { type System, startProcesses } from '../../support/system.ts';

/** More than a network's line for password hashing holds, and fewer than its wrong passwords in 15 minutes. */
const STORM = 80;
/** Fewer than the wrong passwords that an account is allowed. */
const MORE = 8;

describe('storm of passwords', () => {
  let system: System;
  let user: UserClient;

  before(async () => {
    system = await startProcesses({ workers: 0 });
    user = await signUp(system);
  });
  after(() => system.stop());

  it('a storm of passwords is refused with 503 overloaded once its line is full, wherever a password is hashed', async () => {
    const storm = new AbortController();
    const { signal } = storm;
    const person = () => ({ email: someEmail(), password: 'a horse with 9 staples' });
    const change = { password: 'a mule with 10 staples', current_password: user.password };
    const signingUp = () => anonymously(system, 'POST', '/api/auth/signup/', person(), { signal });
    const loggingIn = () => anonymously(system, 'POST', '/api/auth/login/', person(), { signal });
    const entering = (path: string) => () =>
      anonymously(system, 'POST', `/console/auth/${path}/`, person(), { signal });
    const changing = () => user.request('PATCH', '/api/auth/me/', change, { signal });
    try {
      // The first refusal shows that the line is full; while the storm waits in it, all but one in 33 ms are refused.
      for (const [calls, call] of [
        [STORM, signingUp],
        [STORM, loggingIn],
        [MORE, entering('signup')],
        [MORE, entering('login')],
        [MORE, changing],
      ] as const) {
        const refused = await firstRefusal(Array.from({ length: calls }, call));
        assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      }
    } finally {
      storm.abort();
    }
  });

  it('a storm of passwords ends as soon as the waiting callers have disconnected: the next one is served', async () => {
    await signUp(system);
  });
});

/** The first of the calls that is answered 503 `overloaded`. */
function firstRefusal<Called extends { status: number; code: string | undefined }>(
  calls: Promise<Called>[],
): Promise<Called> {
  return Promise.any(
    calls.map(async (call) => {
      const reply = await call;
      assert.deepEqual([reply.status, reply.code], [503, 'overloaded']);
      return reply;
    }),
  );
}
