import type { App, AppKey } from '../../shared/db/entities/app.ts';
import { findApp, listKeys } from '../../shared/db/stores/apps.ts';
import { unknownApp } from './arguments.ts';
import type { Admin, Outcome } from './command.ts';
import { lines, table } from './text.ts';

/** The app and its keys, of which neither secret nor hash is ever shown. */
export async function showApp({ em }: Admin, id: string): Promise<Outcome> {
  const app = await findApp(em, id);
  if (app === undefined) throw unknownApp(id);
  const fields = presentApp(app);
  const keys = (await listKeys(em, id)).map(presentKey);
  const text = `${lines(fields)}\n\n${table(keys, ['prefix', 'created_at', 'expires_at'])}`;
  return { data: { ...fields, keys }, text };
}

/** The app, with the field names of `/v1`. */
export function presentApp(app: App) {
  return {
    app_id: app.id,
    name: app.name,
    plan: app.plan,
    monthly_cap_cents: app.capCents ?? null,
    active: app.active,
    redirect_uris: app.redirectUris,
    min_confidence: app.minConfidence,
    supersede: app.supersede,
    on_disconnect: app.onDisconnect,
    disabled: app.disabled,
    created_at: app.createdAt,
  };
}

function presentKey({ prefix, createdAt, expiresAt }: AppKey) {
  return { prefix, created_at: createdAt, expires_at: expiresAt ?? null };
}
