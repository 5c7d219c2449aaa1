import type { EntityManager } from '@mikro-orm/postgresql';
import { DERIVED_FROM } from './links.ts';

interface DeletedFact {
  id: string;
  supersededBy: string | null;
  revisionOf: string | null;
}

/**
 * Deletes facts with their former wordings and links. What they superseded holds again, or is superseded by what
 * superseded them. Returns the ids of the deleted, former wordings left out, and how many hold again.
 */
export async function deleteFacts(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<{ deleted: string[]; restored: number }> {
  if (ids.length === 0) return { deleted: [], restored: 0 };
  const named = JSON.stringify(ids);
  const facts = await tx.execute<DeletedFact[]>(
    `select id, superseded_by as "supersededBy", revision_of as "revisionOf" from facts
      where account_id = ?
        and (id in (select json_array_elements_text(?::json)::uuid)
          or (superseded_by in (select json_array_elements_text(?::json)::uuid) and revision_of = superseded_by))`,
    [accountId, named, named],
  );
  const gone = JSON.stringify(facts.map(({ id }) => id));
  const restored = await restoreSuperseded(tx, accountId, facts);
  for (const statement of [
    `delete from memory_links where account_id = ? and from_id in (select json_array_elements_text(?::json)::uuid)
        and relation = '${DERIVED_FROM}'`,
    `delete from facts where account_id = ? and id in (select json_array_elements_text(?::json)::uuid)`,
  ])
    await tx.execute(statement, [accountId, gone]);
  const deleted = facts.filter(({ revisionOf }) => revisionOf === null).map(({ id }) => id);
  return { deleted, restored };
}

/** An end of validity that a fact got from the beginning of its successor goes with the successor. */
async function restoreSuperseded(
  tx: EntityManager,
  accountId: string,
  gone: readonly DeletedFact[],
): Promise<number> {
  const successors = new Map(gone.map(({ id, supersededBy }) => [id, supersededBy]));
  const changes = gone.map(({ id }) => ({ id, successor: lastSuccessor(successors, id) }));
  const restored = await tx.execute<{ isCurrent: boolean }[]>(
    `update facts f
        set superseded_by = c.successor,
            invalidated_at = case when c.successor is not null then f.invalidated_at end,
            valid_to = case when f.valid_to is distinct from s.valid_from then f.valid_to end,
            updated_at = now()
       from json_to_recordset(?::json) c (id uuid, successor uuid) join facts s on s.id = c.id
      where f.account_id = ? and f.superseded_by = c.id and f.id not in (select json_array_elements_text(?::json)::uuid)
      returning f.superseded_by is null as "isCurrent"`,
    [JSON.stringify(changes), accountId, JSON.stringify(gone.map(({ id }) => id))],
  );
  return restored.filter(({ isCurrent }) => isCurrent).length;
}

/** What supersedes a fact once those that are being deleted are gone. */
function lastSuccessor(successors: Map<string, string | null>, id: string): string | null {
  const passed: string[] = [];
  let last: string | null = id;
  while (last !== null && successors.has(last)) {
    passed.push(last);
    last = successors.get(last) ?? null;
  }
  // A chain may have thousands of facts: nobody walks the same part of it twice.
  for (const one of passed) successors.set(one, last);
  return last;
}
