import assert from 'node:assert/strict';
import { parseRedisUrl } from '../../../shared/config/values.ts';

describe('REDIS_URL', () => {
  it('REDIS_URL may name one server, with TLS or without', () => {
    for (const url of ['redis://localhost', 'rediss://user:p%40ss@redis.example:6380/2']) {
      assert.deepEqual(parseRedisUrl(url), { kind: 'single', url });
    }
  });

  it('REDIS_URL may list sentinels, with the name of their primary and a database number', () => {
    assert.deepEqual(parseRedisUrl('redis+sentinel://h1,h2:26380/main/3'), {
      kind: 'sentinel',
      hosts: [
        { host: 'h1', port: 26379 },
        { host: 'h2', port: 26380 },
      ],
      name: 'main',
      db: 3,
    });
    assert.deepEqual(parseRedisUrl('redis+sentinel://u:p%40s@h1/main'), {
      kind: 'sentinel',
      hosts: [{ host: 'h1', port: 26379 }],
      name: 'main',
      db: 0,
      username: 'u',
      password: 'p@s',
    });
  });

  it('REDIS_URL may name the nodes of a cluster', () => {
    assert.deepEqual(parseRedisUrl('redis+cluster://:secret@10.0.0.1:7000,[::1]:7001'), {
      kind: 'cluster',
      hosts: [
        { host: '10.0.0.1', port: 7000 },
        { host: '::1', port: 7001 },
      ],
      password: 'secret',
    });
  });

  it('REDIS_URL is refused if it is malformed or has another scheme', () => {
    const wrong = [
      'localhost:6379',
      'http://localhost',
      'redis:/h/14',
      'redis:///14',
      'redis://localhost/h/14',
      'redis+sentinel://h1',
      'redis+sentinel:///main',
      'redis+sentinel://h1/main/0/x',
      'redis+cluster://',
      'redis+cluster://h1:70000',
      'redis+cluster://h1,,h2',
      'redis+cluster://h1/0',
      'redis+other://h1',
      'redis://:50%off@h1',
      'redis+sentinel://:50%off@h1/main',
    ];
    for (const url of wrong) assert.equal(parseRedisUrl(url), undefined, url);
  });
});
