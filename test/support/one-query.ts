import pg from 'pg';
import { until } from './until.ts';

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Waits until no server listens at the address. */
export async function untilRefused(url: string): Promise<void> {
  await until(async () => {
    const fault = await query(url, 'select 1').catch((error) => error);
    return fault.code === 'ECONNREFUSED';
  });
}
