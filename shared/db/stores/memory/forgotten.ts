import { hash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { forgottenForms, formsSaidIn, lookedUpForms, wordingForms } from '../../../domain/facts/forgotten.ts';
import { type CheckedQuote, isEvidence, type Statement } from '../../../domain/facts/statement.ts';
import { Erasure } from '../../entities/erasure.ts';
import type { RawMemory } from '../../entities/memory.ts';
import { addErasures } from '../erasures.ts';

const HASH_CHARS = 22;

/** The account's id makes equal statements of two people different. */
function hashesOf(accountId: string, forms: readonly string[]): string[] {
  return forms.map((form) => hash('sha256', `${accountId}\n${form}`, 'base64url').slice(0, HASH_CHARS));
}

function forget(tx: EntityManager, accountId: string, forms: readonly string[]): Promise<void> {
  return addErasures(tx, accountId, 'statement', hashesOf(accountId, forms));
}

/** Forgets what facts state or stated, in their words and in those of the person that they quote. */
export async function forgetStatements(
  tx: EntityManager,
  accountId: string,
  ids: readonly string[],
): Promise<void> {
  const facts = await tx.execute<ForgottenFact[]>(READ_FACTS, [QUOTES_MAX, accountId, ids, accountId, ids]);
  const forms = facts.flatMap(({ quotes, ...fact }) => [
    ...forgottenForms(fact),
    ...quotes.flatMap(wordingForms),
  ]);
  await forget(tx, accountId, forms);
  await addErasures(tx, accountId, 'fact', ids);
}

interface ForgottenFact {
  text: string;
  slot: string | null;
  quotes: string[];
}

const QUOTES_MAX = 100;

const READ_FACTS = `
  select f.text, f.slot,
         array(select l.quote from memory_links l join raw_memories r on r.id = l.to_id
                where l.account_id = f.account_id and l.from_id = f.id and l.quote is not null
                  and r.role = 'human' and r.origin = 'human'
                limit ?) as quotes
    from (select * from facts where account_id = ? and id = any (array[?]::uuid[])
          union all
          select * from facts
           where account_id = ? and superseded_by = any (array[?]::uuid[]) and revision_of = superseded_by) f`;

/** Forgets what the person says in raw rows. */
export function forgetWords(
  tx: EntityManager,
  accountId: string,
  rows: readonly Pick<RawMemory, 'content' | 'role' | 'origin'>[],
): Promise<void> {
  const evidence = rows.filter(({ role = null, origin }) => isEvidence({ role, origin }));
  return forget(
    tx,
    accountId,
    evidence.flatMap(({ content }) => formsSaidIn(content)),
  );
}

/** Returns the ids of facts that were recorded before the person forgot what they state. */
export async function forgottenFacts(
  tx: EntityManager,
  accountId: string,
  facts: readonly { id: string; text: string; slot: string | null; at: Date }[],
): Promise<Set<string>> {
  const subjectsOf = new Map(facts.map((fact) => [fact, hashesOf(accountId, lookedUpForms(fact))]));
  const subject = { $in: [...subjectsOf.values()].flat() };
  const entries = await tx.find(Erasure, { accountId, what: 'statement', subject });
  const erasedAt = new Map(entries.map((entry) => [entry.subject, entry.erasedAt]));
  const isForgotten = (fact: { at: Date }, one: string) => (erasedAt.get(one) ?? 0) >= fact.at;
  return new Set(
    facts.filter((fact) => subjectsOf.get(fact)?.some((one) => isForgotten(fact, one))).map(({ id }) => id),
  );
}

/** Returns the quotes of rows that were said before the person forgot the statement, or the quoted words. */
export async function forgottenQuotes(
  tx: EntityManager,
  accountId: string,
  { quotes, ...stated }: Pick<Statement, 'text' | 'slot' | 'quotes'>,
): Promise<CheckedQuote[]> {
  const forms = lookedUpForms(stated);
  const probes = quotes.flatMap(({ rawId, words }) =>
    hashesOf(accountId, [...forms, ...wordingForms(words)]).map((subject) => ({ rawId, subject })),
  );
  const forgotten = await tx.execute<{ id: string }[]>(FORGOTTEN_ROWS, [
    JSON.stringify(probes),
    accountId,
    accountId,
  ]);
  return quotes.filter(({ rawId }) => forgotten.some(({ id }) => id === rawId));
}

/** What was stored before the moment was said before it, whatever its time says. */
const FORGOTTEN_ROWS = `
  select distinct r.id
    from json_to_recordset(?::json) p ("rawId" uuid, subject text)
    join erasures e on e.account_id = ? and e.what = 'statement' and e.subject = p.subject
    join raw_memories r on r.id = p."rawId" and r.account_id = ?
     and least(r.occurred_at, r.created_at) <= e.erased_at`;
