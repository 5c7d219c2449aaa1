import type { Entry } from '../format.ts';
import { asText, type JsonObject, objectOf, stringOf, tryParseObject } from '../json.ts';
import { type AskedPermission, permissionOf } from '../permission.ts';

/** Codex begins a command as soon as it is allowed: by a rule, a hook or the reviewer at once, by a person later. */
const HAND_MIN_MS = 300;

/**
 * Finds what the person allowed or refused by hand in Codex's rollouts, of the commands that leave the sandbox: nobody
 * is asked about others. The rollout does not say who allowed one, but how long it waited.
 */
export class CodexPermissions {
  readonly #calls = new Map<string, AskedPermission & { cwd: string }>();

  /** `folder` is that of the session; `prefix` begins the ids. */
  read(payload: JsonObject, at: string | undefined, folder: string | undefined, prefix: string): Entry[] {
    const { type, call_id: callId, output, item } = payload;
    if (type === 'function_call') this.#note(payload, folder);
    const done = objectOf(item);
    if (type === 'item_completed' && done['type'] === 'CommandExecution')
      return this.#decided(
        asText(done['id']),
        at,
        prefix,
        waitMsOf(payload, done) >= HAND_MIN_MS || undefined,
      );
    if (type !== 'function_call_output') return [];
    const isRefused = stringOf(output)?.trimEnd().endsWith('aborted by user') === true;
    return this.#decided(asText(callId), at, prefix, isRefused ? false : undefined);
  }

  #note(call: JsonObject, folder: string | undefined): void {
    const input = tryParseObject(stringOf(call['arguments']) ?? '') ?? {};
    const asked = permissionOf(asText(call['name']), input);
    const cwd = stringOf(input['workdir']) ?? folder;
    if (asked !== undefined && cwd !== undefined && input['sandbox_permissions'] === 'require_escalated')
      this.#calls.set(asText(call['call_id']), { ...asked, cwd });
  }

  #decided(id: string, at: string | undefined, prefix: string, isAllowed: boolean | undefined): Entry[] {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (call === undefined || isAllowed === undefined) return [];
    return [{ kind: 'permission', id: `${prefix}:${id}:permission`, at, isAllowed, ...call }];
  }
}

function waitMsOf(
  { started_at_ms: started, completed_at_ms: completed }: JsonObject,
  done: JsonObject,
): number {
  const { secs, nanos } = objectOf(done['duration']);
  return (
    Number(asText(completed)) -
    Number(asText(started)) -
    Number(asText(secs)) * 1000 -
    Number(asText(nanos)) / 1e6
  );
}
