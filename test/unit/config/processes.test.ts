import assert from 'node:assert/strict';
import { adminConfig, ingressConfig, migrateConfig, workerConfig } from '../../../shared/config/config.ts';

const DATABASE = { NODE_ENV: 'production', DATABASE_URL: 'postgres://db.example/forecue' };
const MODEL = { DEFAULT_MODEL: 'local' };
const WEB = { PUBLIC_URL: 'https://forecue.example', JWT_SECRET: 'a secret of 32 bytes at the least' };

/** Settings of others, none of which is valid. */
const OF_OTHERS = { PORT: 'x', TRUST_PROXY: 'x', JWT_SECRET: 'x', PUBLIC_URL: 'x' };
const OF_SERVERS = { OPERATOR_PORT: 'x', LEASE_MS: 'x', WORKER_CONCURRENCY: 'x' };

describe('the configuration of a process in production', () => {
  it('of an ingress needs no model', () => {
    assert.equal(ingressConfig({ ...DATABASE, ...WEB }).publicUrl, WEB.PUBLIC_URL);
  });

  it('of an ingress lets requests name the default model, unless others are listed', () => {
    const supported = (more: object) => ingressConfig({ ...DATABASE, ...WEB, ...more }).supportedModels;
    assert.deepEqual(supported({}), []);
    assert.deepEqual(supported(MODEL), ['local']);
    assert.deepEqual(supported({ ...MODEL, SUPPORTED_MODELS: 'one, two' }), ['one', 'two']);
    assert.throws(() => supported({ SUPPORTED_MODELS: 'one,,two' }), /SUPPORTED_MODELS must be/);
  });

  it('of a worker needs no public address and no signing secret, and does not read them', () => {
    assert.equal(workerConfig({ ...DATABASE, ...MODEL, ...OF_OTHERS }).defaultModel, 'local');
  });

  it('of the command line and the migration is the database alone; settings of servers are not read', () => {
    const values = { ...DATABASE, ...OF_OTHERS, ...OF_SERVERS };
    assert.equal(adminConfig(values).database.url, DATABASE.DATABASE_URL);
    assert.equal(migrateConfig({ ...values, REDIS_URL: 'x' }).directUrl, DATABASE.DATABASE_URL);
  });
});
