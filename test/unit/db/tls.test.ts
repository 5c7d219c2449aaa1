import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { openDatabase } from '../../../shared/db/orm.ts';
import { createLog } from '../../../shared/log.ts';
import { listen } from '../../support/listening.ts';

/** The code in a client's request for TLS, which it sends before anything else. */
const SSL_REQUEST = 80_877_103;

describe('the address of a database', () => {
  for (const [query, asks] of [
    ['sslmode=verify-full', true],
    ['sslmode=no-verify', true],
    ['sslmode=disable', false],
    ['', false],
  ] as const)
    it(`the pool ${asks ? 'asks for' : 'does without'} TLS, and sends nothing before it, at an address with "${query}"`, async () => {
      const { promise: received, resolve } = Promise.withResolvers<number>();
      const server = createServer((socket) => {
        socket.once('data', (data: Buffer) => {
          resolve(data.readUInt32BE(4));
          socket.destroy();
        });
      });
      await using listening = await listen(server);
      const url = `postgres://someone:secret@127.0.0.1:${listening.port}/forecue?${query}`;
      const database = await openDatabase(
        { database: { url, directUrl: url, poolSize: 2 } },
        createLog('test', 'silent'),
        'forecue test',
      );
      try {
        await assert.rejects(database.pool.query('select 1'));
        assert.equal((await received) === SSL_REQUEST, asks);
      } finally {
        await database.close();
      }
    });
});
