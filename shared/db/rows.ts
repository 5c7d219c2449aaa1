import type { EntityManager, EntityName, RequiredEntityData } from '@mikro-orm/postgresql';

/** Returns the row of a statement that always returns one. */
export async function oneRow<Row>(rows: Promise<readonly Row[]>): Promise<Row> {
  const [row] = await rows;
  if (row === undefined) throw new Error('the database answered nothing');
  return row;
}

/** Returns an array of the values of each property, for `unnest`. */
export function arraysOf<Row>(rows: readonly Row[], ...properties: (keyof Row)[]): unknown[][] {
  return properties.map((property) => rows.map((row) => row[property]));
}

/** SQL for the milliseconds since 1970 of a column. */
export const unixMs = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

/** Inserts those rows that are not there yet. Returns their number. */
export async function insertNew<Row extends object>(
  em: EntityManager,
  entity: EntityName<Row>,
  rows: RequiredEntityData<Row>[],
): Promise<number> {
  if (rows.length === 0) return 0;
  const insertion = em.createQueryBuilder(entity).insert(rows).onConflict().ignore();
  return (await insertion.execute('run')).affectedRows;
}
