import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { SharedConnection } from '../../../shared/queue/postgres-store.ts';
import { useServer } from '../../support/listening.ts';
import { until } from '../../support/until.ts';

/** Makes a message of PostgreSQL's protocol version 3: a type, the length of the rest, and the rest. */
const message = (type: string, rest: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + rest.length, 1);
  return Buffer.concat([head, rest]);
};
const AUTHENTICATION_OK = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const TERMINATED = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0'));

describe("BullMQ's connections to PostgreSQL", () => {
  const server = useServer(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATION_OK, READY, TERMINATED])));
    }),
  );

  it("BullMQ's connections to PostgreSQL report an error when the server ends each connection right after log-in", async () => {
    const connectionString = `postgres://nobody@127.0.0.1:${server.port}/nowhere`;
    const connection = new SharedConnection({ connectionString, query_timeout: 1000 });
    const faults: unknown[] = [];
    connection.on('error', (error: { code?: string }) => faults.push(error.code));
    try {
      for (let n = 0; n < 2; n += 1) {
        await assert.rejects(async () => (await connection.getListenClient()).query('select 1'));
        await until(() => faults.length > n);
      }
      assert.equal(faults[0], '57P01');
      await assert.rejects(connection.pool.query('select 1'), { code: '57P01' });
    } finally {
      await connection.end();
    }
  });
});
