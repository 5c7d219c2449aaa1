import { SHINGLE_WORDS } from '../../shared/text/similarity.ts';
import { wordNgrams, wordsOf } from '../../shared/text/words.ts';
import { type PersonaSession, textOf } from './personas.ts';
import { keyOf, type Statement } from './statements.ts';

/** Statements that still hold after everything that a person said, and statements that no longer do. */
export interface Truth {
  active: Statement[];
  superseded: Statement[];
}

/** Returns the truth of these sessions alone, in order: the last statement about a slot counts. */
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

/** Returns all runs of five words that occur in the sessions in `gone`, but in no session that is kept. */
export function shinglesOnlyIn(
  gone: readonly PersonaSession[],
  kept: readonly PersonaSession[],
): Set<string> {
  return shinglesIn(gone).difference(shinglesIn(kept));
}

export function shinglesOf(text: string): Set<string> {
  return new Set(wordNgrams(wordsOf(text), SHINGLE_WORDS));
}

function shinglesIn(sessions: readonly PersonaSession[]): Set<string> {
  return new Set(sessions.flatMap(({ events }) => events.flatMap((event) => [...shinglesOf(textOf(event))])));
}
