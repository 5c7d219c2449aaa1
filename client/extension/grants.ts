import { headersOf } from '../src/session.ts';
import type { Credentials } from '../src/transport.ts';
import { change, type Grant, readSettings } from './settings.ts';
import { renew } from './sign-in.ts';

/** One renewal serves all calls that were refused. */
let renewal: Promise<boolean> | undefined;

/** The tokens of the person who is signed in. They are read from the storage, since a worker may end at any time. */
export const credentials: Credentials = {
  async headers() {
    const { grant } = await readSettings();
    return grant === null ? {} : headersOf(grant.access);
  },
  renew(refused) {
    renewal ??= renewOnce(refused).finally(() => {
      renewal = undefined;
    });
    return renewal;
  },
};

async function renewOnce(refused: Record<string, string>): Promise<boolean> {
  const { grant } = await readSettings();
  if (grant === null) return false;
  if (headersOf(grant.access)['authorization'] !== refused['authorization']) return true;
  const renewed = await renew(grant);
  // Keeps what is stored if the person has signed out, or in again, during the call.
  if (!isSame((await readSettings()).grant, grant)) return false;
  await change({ grant: renewed ?? null });
  return renewed !== undefined;
}

function isSame(one: Grant | null, other: Grant): boolean {
  return one?.refresh === other.refresh;
}
