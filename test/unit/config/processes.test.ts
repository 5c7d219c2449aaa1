import assert from 'node:assert/strict';
import { adminConfig, ingressConfig, migrateConfig, workerConfig } from '../../../shared/config/config.ts';

const DATABASE = { NODE_ENV: 'production', DATABASE_URL: 'postgres://db.example/forecue' };
const MODEL = { DEFAULT_MODEL: 'local' };
const WEB = {
  PUBLIC_URL: 'https://forecue.example',
  JWT_SECRET: 'a secret of 32 bytes at the least',
  ADMIN_TOKEN: 'a token of 32 bytes at the very least',
};

/** Settings of others, none of which is valid. */
const OF_OTHERS = { PORT: 'x', TRUST_PROXY: 'x', JWT_SECRET: 'x', ADMIN_TOKEN: 'x', PUBLIC_URL: 'x' };
const OF_SERVERS = { OPERATOR_PORT: 'x', LEASE_MS: 'x', WORKER_CONCURRENCY: 'x' };

describe('processes in production', () => {
  it('an ingress needs no model', () => {
    assert.equal(ingressConfig({ ...DATABASE, ...WEB }).publicUrl, WEB.PUBLIC_URL);
  });

  it('an ingress lets requests name the default model, unless others are listed', () => {
    const supported = (more: object) => ingressConfig({ ...DATABASE, ...WEB, ...more }).supportedModels;
    assert.deepEqual(supported({}), []);
    assert.deepEqual(supported(MODEL), ['local']);
    assert.deepEqual(supported({ ...MODEL, SUPPORTED_MODELS: 'one, two' }), ['one', 'two']);
    assert.throws(() => supported({ SUPPORTED_MODELS: 'one,,two' }), /SUPPORTED_MODELS must be/);
  });

  it('a worker needs no public address and no signing secret, and does not read them', () => {
    assert.equal(workerConfig({ ...DATABASE, ...MODEL, ...OF_OTHERS }).defaultModel, 'local');
  });

  it('a worker whose model is a provider’s needs a key, and outside production starts without one', () => {
    const withModel = (more: object) => workerConfig({ ...DATABASE, DEFAULT_MODEL: 'one', ...more });
    const refused = (model: string) => ({
      message: `configuration: OPENAI_API_KEY is required by the model ${model}`,
    });
    assert.throws(() => withModel({}), refused('one'));
    assert.throws(() => withModel({ DEFAULT_MODEL: 'local', TAB_MODEL: 'two' }), refused('two'));
    assert.equal(withModel({ OPENAI_API_KEY: 'sk-1' }).openai?.apiKey, 'sk-1');
    assert.equal(withModel({ NODE_ENV: '' }).openai, undefined);
  });

  it('an address that lacks a slash or its host is refused', () => {
    const refused = (name: string, value: string) =>
      assert.throws(
        () => ingressConfig({ ...DATABASE, ...WEB, [name]: value }),
        new RegExp(`: ${name} must be`),
      );
    refused('REDIS_URL', 'redis:/h/14');
    refused('DATABASE_URL', 'postgres:/db.example/forecue');
    refused('PUBLIC_URL', 'https:/forecue.example');
    refused('HTTPS_PROXY', 'proxy.example:3128');
  });

  it('the command line and the migration need the database alone, and do not read the settings of servers', () => {
    const values = { ...DATABASE, ...OF_OTHERS, ...OF_SERVERS };
    assert.equal(adminConfig({ ...values, PUBLIC_URL: '' }).database.url, DATABASE.DATABASE_URL);
    assert.equal(migrateConfig({ ...values, REDIS_URL: 'x' }).directUrl, DATABASE.DATABASE_URL);
  });
});
