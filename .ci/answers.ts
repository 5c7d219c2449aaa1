import { Redis } from 'ioredis';
import pg from 'pg';

const TIMEOUT_MS = 2000;

/** Exits with 0 if the PostgreSQL or Redis at the address answers, otherwise with 1. */
const address = process.argv[2] ?? '';
try {
  await (address.startsWith('redis') ? askRedis() : askPostgres());
} catch {
  process.exitCode = 1;
}

async function askPostgres(): Promise<void> {
  const client = new pg.Client({ connectionString: address, connectionTimeoutMillis: TIMEOUT_MS });
  await client.connect();
  await client.end();
}

async function askRedis(): Promise<void> {
  const client = new Redis(address, { lazyConnect: true, connectTimeout: TIMEOUT_MS, retryStrategy: null });
  client.on('error', () => {});
  await client.connect();
  client.disconnect();
}
