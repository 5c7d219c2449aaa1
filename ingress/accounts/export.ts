import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../shared/db/entities/account.ts';
import type { MemoryLink } from '../../shared/db/entities/memory.ts';
import type { ProviderCall } from '../../shared/db/entities/provider.ts';
import { type AccountPage, accountData, PAGE_BYTES_MAX } from '../../shared/db/stores/account-data.ts';
import { presentApp } from '../../shared/db/stores/app-report.ts';
import { readDecisionSettings } from '../../shared/db/stores/decisions.ts';
import type { EventRow } from '../../shared/db/stores/recording/read.ts';
import { EXPORTED } from '../../shared/schemas/export.ts';
import { present } from '../../shared/schemas/present.ts';
import type { ReserveAnswerMemory } from '../guards/budgets.ts';
import { presentSource } from '../memory/present.ts';
import { presentSession } from '../recording/service.ts';
import { presentReply } from '../replies/present.ts';
import {
  presentAccess,
  presentGrant,
  presentKey,
  presentLogIn,
  presentPasskey,
  presentUser,
  presentWebhook,
} from './present.ts';

interface ExportParts {
  em: () => EntityManager;
  /** Renders an event as JSON, or as undefined if it was erased meanwhile. Waits for memory for a large event. */
  renderEvent(event: EventRow): Promise<string | undefined>;
  reserve: ReserveAnswerMemory;
}

/** Memory to reserve for a page of rows: once for the rows, and once for their JSON. */
const PAGE_MEMORY_BYTES = 2 * PAGE_BYTES_MAX;

/** Exports an account as JSON Lines. Throws `overloaded`, before the first line, when there is no memory for a page. */
export async function exportAccount(parts: ExportParts, account: Account): Promise<AsyncGenerator<string>> {
  await parts.reserve(PAGE_MEMORY_BYTES);
  return linesOfAccount(parts, account);
}

async function* linesOfAccount({ em, renderEvent, reserve }: ExportParts, account: Account) {
  const { precisionTarget: precision_target, thresholdFloor: threshold_floor } = account;
  const settings = { precision_target, threshold_floor, ...(await readDecisionSettings(em(), account.id)) };
  yield line('account', { ...presentUser(account), ...settings });
  for await (const page of accountData(em, account.id)) {
    if (page.type === 'event') {
      const rendered = await Promise.all(page.rows.map(renderEvent));
      yield rendered
        .filter((json) => json !== undefined)
        .map(eventLine)
        .join('');
      // Restores the reservation, which `renderEvent` changes for a large event.
      await reserve(PAGE_MEMORY_BYTES);
    } else yield linesOf(page);
  }
}

/** Inserts the event's JSON without parsing it, so that the export shows the event as it was posted. */
function eventLine(json: string): string {
  return `{"type":"event","data":${json}}\n`;
}

type PageType = Exclude<AccountPage['type'], 'event'>;
type RowOf<Type extends PageType> = Extract<AccountPage, { type: Type }>['rows'][number];

const PRESENTERS: { [Type in PageType]: (row: RowOf<Type>) => object } = {
  key: presentKey,
  passkey: presentPasskey,
  log_in: presentOwnLogIn,
  grant: presentGrant,
  app: presentApp,
  webhook: presentWebhook,
  connection: presentConnection,
  access: presentAccess,
  session: presentSession,
  mark: (row) => present(EXPORTED.mark, row),
  profile: (row) => present(EXPORTED.profile, row),
  raw: (row) => present(EXPORTED.raw, row),
  // The sources of an episode or a fact are lines of the type `link`.
  episode: (row) => present(EXPORTED.episode, row),
  fact: (row) => present(EXPORTED.fact, row),
  link: presentLink,
  provider_call: presentCall,
  prediction: presentReply,
  permission: (row) => present(EXPORTED.permission, row),
};

function linesOf({ type, rows }: Extract<AccountPage, { type: PageType }>): string {
  const present = PRESENTERS[type] as (row: object) => object;
  return rows.map((row) => line(type, present(row))).join('');
}

function line(type: string, data: object): string {
  return `${JSON.stringify({ type, data })}\n`;
}

function presentConnection({
  id,
  app,
  userId,
  status,
  createdAt,
  grantedAt,
  revokedAt,
  memory,
  projects,
  endsAt,
}: RowOf<'connection'>) {
  return {
    connection_id: id,
    app_name: app.name,
    user_id: userId,
    status,
    created_at: createdAt,
    granted_at: grantedAt,
    revoked_at: revokedAt ?? null,
    scope: { memory, ...(projects && { projects }) },
    ends_at: endsAt ?? null,
  };
}

function presentOwnLogIn(row: RowOf<'log_in'>) {
  const { current: _, ...data } = presentLogIn(row);
  return data;
}

function presentLink(link: MemoryLink) {
  const { fromTier, fromId, relation } = link;
  return { from: { tier: fromTier, id: fromId }, relation, to: presentSource(link) };
}

function presentCall(call: ProviderCall) {
  return {
    id: call.id,
    at: call.at,
    kind: call.kind,
    work_id: call.workId,
    attempt: call.attempt,
    model: call.model,
    input_tokens: call.inputTokens,
    cached_tokens: call.cachedTokens,
    output_tokens: call.outputTokens,
    cost_microcents: call.costMicrocents ?? null,
    aborted: call.aborted,
    outcome: call.outcome,
    latency_ms: call.latencyMs,
  };
}
