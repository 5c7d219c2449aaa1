import assert from 'node:assert/strict';
import { anonymously, signUp, someEmail, type UserClient } from '../../support/account.ts';
import { useProcesses } from '../../support/system.ts';

/** More than a network's hashing queue holds (64), but fewer than its limit of wrong passwords (100). */
const STORM_CALLS = 80;
/** Calls while the queue is full: fewer than the wrong passwords allowed for one account from one network (10). */
const FURTHER_CALLS = 8;
const NODE_OPTIONS = `--import=${new URL('../../support/slow-hash.ts', import.meta.url)}`;

describe('password storm', () => {
  const system = useProcesses({ workers: 0, env: { NODE_OPTIONS } });
  let user: UserClient;

  before(async () => {
    user = await signUp(system);
  });

  it("sign-up, log-in and password change are 503 overloaded while the network's queue for password hashing is full #log-in-storm", async () => {
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
      // The first refusal shows that the queue is full. While the storm is queued, three calls a second are let in.
      for (const [calls, call] of [
        [STORM_CALLS, signingUp],
        [STORM_CALLS, loggingIn],
        [FURTHER_CALLS, entering('signup')],
        [FURTHER_CALLS, entering('login')],
        [FURTHER_CALLS, changing],
      ] as const) {
        const refused = await firstRefusal(Array.from({ length: calls }, call));
        assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      }
    } finally {
      storm.abort();
    }
  });

  it('a sign-up is served once the callers that filled the queue for password hashing have disconnected', async () => {
    await signUp(system);
  });
});

/** Resolves with the first call that is answered 503 `overloaded`. Rejects if no call is. */
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
