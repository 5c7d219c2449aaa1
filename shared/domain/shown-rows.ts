import { truncateMiddle } from '../text/cut.ts';
import type { EpisodeRow, FactRow, RawRow } from './context-rows.ts';
import { isEvidence } from './facts/statement.ts';

type Times = Pick<FactRow, 'validFrom' | 'recordedAt'> &
  Pick<EpisodeRow, 'endedAt'> &
  Pick<RawRow, 'occurredAt'>;

/** Returns the day of a row, in UTC, that tells a model old from new: since when a fact holds, when a text was said. */
export function dayOf({ validFrom, recordedAt, endedAt, occurredAt }: Partial<Times>): string {
  const time = validFrom ?? recordedAt ?? endedAt ?? occurredAt;
  return time?.toISOString().slice(0, 'YYYY-MM-DD'.length) ?? '';
}

export function datedTextOf(fact: Pick<FactRow, 'text' | 'validFrom' | 'recordedAt'>): string {
  return `${dayOf(fact)} ${fact.text}`;
}

/** Length to which the prompt of a draft cuts what others have written, in code points. */
const OTHERS_CHARS_MAX = 300;

export function shownContentOf(row: Pick<RawRow, 'role' | 'origin' | 'content'>): string {
  return isEvidence(row) ? row.content : truncateMiddle(row.content, OTHERS_CHARS_MAX);
}

export function shownRow(row: RawRow): { on: string; role: string | null; own: boolean; content: string } {
  return { on: dayOf(row), role: row.role, own: isEvidence(row), content: shownContentOf(row) };
}
