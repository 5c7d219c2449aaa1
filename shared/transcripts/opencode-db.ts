import type { DatabaseSync } from 'node:sqlite';
import type { Line } from './records.ts';
import type { FileReport } from './report.ts';

/** Name of the database in which opencode keeps all sessions. */
export const OPENCODE_DATABASE = 'opencode.db';

/** Parts with words, without the outputs of tools and the contents of files. */
const PARTS = `
  select message_id as message, json_set(
      case when data ->> 'type' = 'tool' and data ->> 'tool' <> 'question' then '{"type":"tool"}' else data end,
      '$.id', id
    ) as data
  from part
  where session_id = ? and data ->> 'type' in ('text', 'tool', 'compaction')
  order by id`;
const MESSAGES = `
  select id, json_set(json_remove(data, '$.summary.diffs'), '$.id', id) as data
  from message where session_id = ? order by time_created, id`;
const SESSIONS = `
  select id, json_object(
      'id', id, 'parentID', parent_id, 'directory', directory, 'revert', json(revert), 'permission', json(permission)
    ) as data
  from session order by time_created, id`;

/**
 * Yields each session of the database as `opencode export` writes it, and keeps one in memory at a time.
 * `report.failed` says why no more can be read.
 */
export async function* sessionsIn(path: string, report: FileReport): AsyncGenerator<Line> {
  let database: DatabaseSync | undefined;
  try {
    // Node.js has it since 22.13, and browsers have none.
    const { DatabaseSync } = await import('node:sqlite');
    database = new DatabaseSync(path, { readOnly: true });
    let number = 0;
    for (const { id, data } of rowsOf(database, SESSIONS)) {
      number += 1;
      const text = sessionText(database, id ?? '', data ?? '{}');
      yield { number, bytes: text.length, text };
    }
  } catch (error) {
    const { message } = error as Error;
    report.failed = `the database cannot be read (${message}): import what \`opencode export\` writes instead`;
  } finally {
    database?.close();
  }
}

function sessionText(database: DatabaseSync, id: string, info: string): string {
  const parts = Map.groupBy(rowsOf(database, PARTS, id), ({ message }) => message);
  const messages = rowsOf(database, MESSAGES, id).map((message) => {
    const texts = (parts.get(message['id']) ?? []).map(({ data }) => data);
    return `{"info":${message['data']},"parts":[${texts.join()}]}`;
  });
  return `{"info":${info},"messages":[${messages.join()}]}`;
}

type Row = Readonly<Record<string, string | null | undefined>>;

function rowsOf(database: DatabaseSync, query: string, ...values: string[]): Row[] {
  return database.prepare(query).all(...values) as Row[];
}
