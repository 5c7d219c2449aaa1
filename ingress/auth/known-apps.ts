import type { AppPrincipal } from '../../shared/domain/app.ts';
import type { FindApp } from './app-key.ts';

/** What is revoked must stop working within two seconds; half of that is for the way. */
const REMEMBERED_MS = 1000;
const MOST = 10_000;

/** Remembers for a second whose key it was, so that a busy app costs no look-up for each of its calls. */
export function rememberApps(find: FindApp): FindApp {
  let known = new Map<string, { app: AppPrincipal; until: number }>();
  return async (hash) => {
    const name = hash.toString('base64');
    const remembered = known.get(name);
    if (remembered !== undefined && remembered.until > performance.now()) return remembered.app;
    const app = await find(hash);
    if (known.size >= MOST) known = new Map();
    if (app === undefined) known.delete(name);
    else known.set(name, { app, until: performance.now() + REMEMBERED_MS });
    return app;
  };
}
