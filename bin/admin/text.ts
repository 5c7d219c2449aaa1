import { escapeInvisible } from '../../shared/text/visible.ts';
import type { Outcome } from './command.ts';

/** Shows the fields of an object, with a note below. */
export function fieldsOutcome(data: object, note?: string): Outcome {
  return { data, text: note === undefined ? fieldLines(data) : `${fieldLines(data)}\n\n${note}` };
}

export function fieldLines(thing: object): string {
  return align(Object.entries(thing).map(([name, value]) => [name, cell(value)]));
}

export function table<T extends object>(
  things: readonly T[],
  columns: readonly (keyof T & string)[],
): string {
  return align([[...columns], ...things.map((thing) => columns.map((column) => cell(thing[column])))]);
}

function align(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, i) =>
    rows.reduce((width, row) => Math.max(width, row[i]?.length ?? 0), 0),
  );
  const line = (row: string[]) => row.map((text, i) => text.padEnd(widths[i] ?? 0)).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

function cell(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none';
  if (Array.isArray(value)) return value.map(cell).join(', ');
  return value instanceof Date ? value.toISOString() : escapeInvisible(String(value));
}
