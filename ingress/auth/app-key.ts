import type { AppPrincipal } from '../../shared/domain/app.ts';
import { AppError } from '../../shared/errors/app-error.ts';
import { hashKey, looksLikeAppKey } from '../../shared/security/keys.ts';
import { bearerOf } from './bearer.ts';

/** Looks an app up by the SHA-256 of its key; undefined when the key is unknown or no longer valid. */
export type FindApp = (hash: Buffer) => Promise<AppPrincipal | undefined>;

/** The app whose key the `Authorization` header carries. */
export async function authenticateApp(
  authorization: string | undefined,
  findApp: FindApp,
): Promise<AppPrincipal> {
  const key = bearerOf(authorization);
  const app = key !== undefined && looksLikeAppKey(key) ? await findApp(hashKey(key)) : undefined;
  if (app === undefined) throw new AppError('invalid_app_key');
  return app;
}
