import type { Pool } from 'pg';

type Row = Record<string, unknown> & { id: string };

/** Columns with times, which differ from run to run. Only whether they are set is compared. */
const TIME_COLUMNS = ['created_at', 'updated_at', 'recorded_at', 'invalidated_at', 'promoted_at', 'stale_at'];
/** Columns that are not compared: ids of the account or the row, and values computed from ids. */
const IDENTITY_COLUMNS = /^(id|account_id|episode_ids)$|digest|hash/;

/**
 * Returns the rows of an account's memory as sorted lines, without what differs from run to run: ids become the text of
 * their rows, and `prefix`, with which event ids start, is left out.
 */
export async function comparableMemory(pool: Pool, accountId: string, prefix: string): Promise<string[]> {
  const read = async (table: string) => {
    const { rows } = await pool.query<{ row: Row }>(
      `select to_jsonb(t) as row from ${table} t where account_id = $1`,
      [accountId],
    );
    return rows.map(({ row }) => row);
  };
  const [raw, episodes, facts, links] = await Promise.all(
    ['raw_memories', 'episodes', 'facts', 'memory_links'].map(read),
  );
  const names = new Map<unknown, string>();
  for (const row of raw ?? []) names.set(row.id, `raw ${row['event_id'] ?? row['content']}`);
  for (const row of episodes ?? []) names.set(row.id, `episode ${row['started_at']} ${row['title']}`);
  for (const row of facts ?? []) names.set(row.id, `fact ${row['valid_from']} ${row['text']}`);
  const lineOf = (row: Row) =>
    JSON.stringify(
      Object.entries(row)
        .filter(([column]) => !IDENTITY_COLUMNS.test(column))
        .map(([column, value]) => [
          column,
          TIME_COLUMNS.includes(column) ? value !== null : (names.get(value) ?? value),
        ]),
    ).replaceAll(prefix, '');
  const lines = [raw, episodes, facts, links].flatMap((rows) => (rows ?? []).map(lineOf));
  return [...Map.groupBy(lines, (line) => line)].map(([line, same]) => `${same.length} × ${line}`).sort();
}
