import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../shared/db/entities/account.ts';
import type { MemoryLink } from '../../shared/db/entities/memory.ts';
import type { ProviderCall } from '../../shared/db/entities/provider.ts';
import { type AccountPage, accountData, PAGE_BYTES_MAX } from '../../shared/db/stores/account-data.ts';
import type { EventRow } from '../../shared/db/stores/recording/read.ts';
import type { ReserveAnswerMemory } from '../guards/budgets.ts';
import { presentEpisode, presentFact, presentProfile, presentRaw, presentSource } from '../memory/present.ts';
import { presentSession } from '../recording/service.ts';
import { presentReply } from '../replies/present.ts';
import { presentKey, presentUser } from './present.ts';

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
  yield line('account', { ...presentUser(account), precision_target, threshold_floor });
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
  connection: presentConnection,
  session: presentSession,
  profile: presentProfile,
  raw: (row) => withWitness(row, presentRaw(row)),
  episode: (row) => withWitness(row, withoutLinks(presentEpisode({ row, sources: [] }), 'raw_ids')),
  fact: (row) => withWitness(row, withoutLinks(presentFact({ row, sources: [] }), 'episode_ids')),
  link: presentLink,
  provider_call: presentCall,
  prediction: presentReply,
  permission: presentPermission,
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
    scope: { memory },
    ends_at: endsAt ?? null,
  };
}

function withWitness({ witness }: { witness?: string | null }, row: object): object {
  return { ...row, witness: witness ?? null };
}

/** Omits the ids of a row's sources, because the export lists sources in lines of type `link`. */
function withoutLinks<T extends object, K extends keyof T>(row: T, sources: K): Omit<T, K> {
  const { [sources]: _, ...rest } = row;
  return rest;
}

function presentLink(link: MemoryLink) {
  const { fromTier, fromId, relation } = link;
  return { from: { tier: fromTier, id: fromId }, relation, to: presentSource(link) };
}

function presentPermission({ accountId: _, sessionId, createdAt, ...row }: RowOf<'permission'>) {
  return { ...row, required: row.required ?? null, session_id: sessionId ?? null, created_at: createdAt };
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
