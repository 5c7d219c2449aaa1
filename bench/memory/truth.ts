import { shinglesOf } from '../../shared/text/similarity.ts';
import { type PersonaSession, textOf } from './personas.ts';
import { keyOf, type Statement } from './statements.ts';

/** What holds of a person after all that they said, and what held before. Everything else they never said. */
export interface Truth {
  active: Statement[];
  superseded: Statement[];
}

/** The truth of these sessions alone, in their order: the last word about a slot counts. */
export function truthOf(sessions: readonly PersonaSession[]): Truth {
  const latest = new Map<string, Statement>();
  const all = new Map<string, Statement>();
  for (const statement of sessions.flatMap(({ stated }) => stated)) {
    latest.set(statement.slot, statement);
    all.set(keyOf(statement), statement);
  }
  const active = [...latest.values()];
  const holds = new Set(active.map(keyOf));
  return { active, superseded: [...all.values()].filter((statement) => !holds.has(keyOf(statement))) };
}

/** Every five words in a row that one of the sessions has, and no other one of the person. */
export function shinglesOnlyIn(
  gone: readonly PersonaSession[],
  kept: readonly PersonaSession[],
): Set<string> {
  return shinglesIn(gone).difference(shinglesIn(kept));
}

function shinglesIn(sessions: readonly PersonaSession[]): Set<string> {
  return new Set(sessions.flatMap(({ events }) => events.flatMap((event) => [...shinglesOf(textOf(event))])));
}
