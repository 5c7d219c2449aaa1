import type { Entry } from '../format.ts';
import { asText, type JsonObject, objectOf, objectsOf, stringOf } from '../json.ts';
import { type AskedPermission, permissionOf } from '../permission.ts';

/** Values of `entrypoint` in sessions that programs drive: `claude -p`, the SDKs, the action and the tool server. */
const PROGRAM_ENTRYPOINT = /^(sdk-|mcp|.*github-action)/;

export function isProgram({ entrypoint, promptSource }: JsonObject): boolean {
  return promptSource === 'sdk' || PROGRAM_ENTRYPOINT.test(stringOf(entrypoint) ?? '');
}

/**
 * Finds what the person allowed or refused by hand in Claude Code's transcripts. Since 2.1.332 the record of a tool's
 * result has `permissionDecision`, whose `source` says who decided. It is absent after a plain No, as in older
 * transcripts, which show approvals by hand, by rule and by mode alike: of those only the refusals are read.
 */
export class ClaudePermissions {
  /** Calls without a result, by their ids. */
  readonly #calls = new Map<string, AskedPermission & { at: string | undefined }>();

  read(record: JsonObject): Entry[] {
    const { content } = objectOf(record['message']);
    const at = stringOf(record['timestamp']);
    if (record['type'] === 'assistant') this.#note(objectsOf(content), at);
    // What a hook decides while the dialog stands is not the person's.
    const attachment = objectOf(record['attachment']);
    if (attachment['type'] === 'hook_permission_decision')
      this.#calls.delete(asText(attachment['toolUseID']));
    if (record['type'] !== 'user' || record['isSidechain'] === true || isProgram(record)) return [];
    const results = objectsOf(content).filter(({ type }) => type === 'tool_result');
    return results.flatMap(({ tool_use_id: id }) => this.#decided(asText(id), record));
  }

  #note(blocks: readonly JsonObject[], at: string | undefined): void {
    for (const { type, id, name, input } of blocks) {
      const asked = type === 'tool_use' ? permissionOf(asText(name), objectOf(input)) : undefined;
      if (asked !== undefined) this.#calls.set(asText(id), { ...asked, at });
    }
  }

  #decided(id: string, record: JsonObject): Entry[] {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    const cwd = stringOf(record['cwd']);
    if (call === undefined || cwd === undefined) return [];
    const { at: askedAt, ...asked } = call;
    const at = stringOf(record['timestamp']);
    const isAllowed = decisionOf(record, Date.parse(at ?? '') - Date.parse(askedAt ?? ''));
    if (isAllowed === undefined) return [];
    return [{ kind: 'permission', id: `claude-code:${id}:permission`, at, cwd, isAllowed, ...asked }];
  }
}

/** A No that comes sooner is no person's: a hook that interrupts leaves the same record. */
const NO_MIN_MS = 300;
const REFUSAL = /^(User rejected tool use$|Error: The user doesn't want to proceed with this tool use\.)/;

/** Returns undefined if the person did not decide, or it is not known. */
function decisionOf(record: JsonObject, waitMs: number): boolean | undefined {
  const { decision, source } = objectOf(record['permissionDecision']);
  if (source !== undefined) {
    const isPersons = ['user_temporary', 'user_permanent', 'user_reject'].includes(asText(source));
    return isPersons ? decision === 'accept' : undefined;
  }
  return REFUSAL.test(asText(record['toolUseResult'])) && waitMs >= NO_MIN_MS ? false : undefined;
}
