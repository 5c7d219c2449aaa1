import type { EntityManager } from '@mikro-orm/postgresql';
import type { ForgetReceipt, ForgetRequest } from '../../../schemas/forgetting.ts';
import { KIB } from '../../../schemas/limits.ts';
import type { DeletionReceipt } from '../../../schemas/memory.ts';
import { Episode, RawMemory } from '../../entities/memory.ts';
import { changeMemory } from './change.ts';
import { eraseEpisode, eraseFacts, eraseRaw, eraseUnusedRaw } from './delete.ts';

/** Total length of the texts that are deleted together, which is compared with those made from them. */
const LENGTH_MAX = 32 * KIB;

/** Deletes rows of a tier, all or none, as if one by one. Leaves out those that are not there. */
export function forgetMany(
  em: EntityManager,
  accountId: string,
  { tier, ids, purge_event: purgeEvent = false }: ForgetRequest,
): Promise<ForgetReceipt> {
  return changeMemory(em, accountId, async (tx) => {
    if (tier === 'facts') return eraseFacts(tx, accountId, ids);
    const sum = new Sum();
    const among = { account: accountId, id: { $in: ids } };
    if (tier === 'episodes') {
      for (const { id } of await tx.find(Episode, among, { fields: ['id'] }))
        sum.add(await eraseEpisode(tx, accountId, id));
      return sum.receipt;
    }
    const used = await tx.execute<{ id: string }[]>(USED, [accountId, ids]);
    const usedIds = new Set(used.map(({ id }) => id));
    const rows = await tx.find(RawMemory, among);
    for (const some of inGroups(rows.filter(({ id }) => !usedIds.has(id)))) {
      sum.receipt.events_deleted += await eraseUnusedRaw(tx, accountId, some, { purgeEvent });
      sum.receipt.forgotten += some.length;
    }
    for (const { id } of rows.filter((row) => usedIds.has(row.id)))
      sum.add(await eraseRaw(tx, accountId, id, { purgeEvent }));
    return sum.receipt;
  });
}

/** Those of these rows from which something was derived. */
const USED = `select distinct to_id as id from memory_links where account_id = ? and to_id = any (array[?]::uuid[])`;

function inGroups(rows: readonly RawMemory[]): RawMemory[][] {
  const groups: RawMemory[][] = [];
  let length = LENGTH_MAX;
  for (const row of rows) {
    length += row.content.length;
    const group = length > LENGTH_MAX ? undefined : groups.at(-1);
    if (group !== undefined) group.push(row);
    else {
      groups.push([row]);
      length = row.content.length;
    }
  }
  return groups;
}

class Sum {
  readonly receipt: ForgetReceipt = {
    forgotten: 0,
    events_deleted: 0,
    episodes: { deleted: 0, stale: 0 },
    facts: { deleted: 0, stale: 0, restored: 0 },
  };

  add({ event_deleted, episodes, facts }: DeletionReceipt): void {
    const { receipt } = this;
    receipt.forgotten += 1;
    receipt.events_deleted += Number(event_deleted);
    receipt.episodes.deleted += episodes.deleted;
    receipt.episodes.stale += episodes.stale;
    receipt.facts.deleted += facts.deleted;
    receipt.facts.stale += facts.stale;
    receipt.facts.restored += facts.restored;
  }
}
