import assert from 'node:assert/strict';
import { adminConfig, ingressConfig, migrateConfig, workerConfig } from '../../../shared/config/config.ts';

const DATABASE = { NODE_ENV: 'production', DATABASE_URL: 'postgres://db.example/forecue' };
const MODEL = { DEFAULT_MODEL: 'local' };
const WEB = {
  PUBLIC_URL: 'https://forecue.example',
  JWT_SECRET: 'a secret of 32 bytes at the least',
  ADMIN_TOKEN: 'a token of 32 bytes at the very least',
};

/** Values that are invalid, but only for the processes that read them. */
const INVALID_INGRESS_SETTINGS = {
  PORT: 'x',
  TRUST_PROXY: 'x',
  JWT_SECRET: 'x',
  ADMIN_TOKEN: 'x',
};
const INVALID_SERVER_SETTINGS = { OPERATOR_PORT: 'x', LEASE_MS: 'x', WORKER_CONCURRENCY: 'x' };

describe('processes in production', () => {
  it('an ingress in production needs no DEFAULT_MODEL', () => {
    assert.equal(ingressConfig({ ...DATABASE, ...WEB }).publicUrl, WEB.PUBLIC_URL);
  });

  it('SUPPORTED_MODELS lists the models that requests may name; by default, only DEFAULT_MODEL', () => {
    const supported = (more: object) => ingressConfig({ ...DATABASE, ...WEB, ...more }).supportedModels;
    assert.deepEqual(supported({}), []);
    assert.deepEqual(supported(MODEL), ['local']);
    assert.deepEqual(supported({ ...MODEL, SUPPORTED_MODELS: 'one, two' }), ['one', 'two']);
    assert.throws(() => supported({ SUPPORTED_MODELS: 'one,,two' }), /SUPPORTED_MODELS must be/);
  });

  it('a worker does not read the settings of an ingress, such as PORT and JWT_SECRET', () => {
    assert.equal(workerConfig({ ...DATABASE, ...MODEL, ...INVALID_INGRESS_SETTINGS }).defaultModel, 'local');
  });

  it('a worker with a provider model as DEFAULT_MODEL or TAB_MODEL needs OPENAI_API_KEY, but only in production', () => {
    const withModel = (more: object) => workerConfig({ ...DATABASE, DEFAULT_MODEL: 'one', ...more });
    const refused = (model: string) => ({
      message: `configuration: OPENAI_API_KEY is required by the model ${model}`,
    });
    assert.throws(() => withModel({}), refused('one'));
    assert.throws(() => withModel({ DEFAULT_MODEL: 'local', TAB_MODEL: 'two' }), refused('two'));
    assert.equal(withModel({ OPENAI_API_KEY: 'sk-1' }).openai?.apiKey, 'sk-1');
    assert.equal(withModel({ NODE_ENV: '' }).openai, undefined);
  });

  it('a URL setting that lacks a slash or the scheme is refused', () => {
    const refused = (name: string, value: string) =>
      assert.throws(
        () => ingressConfig({ ...DATABASE, ...WEB, [name]: value }),
        new RegExp(`: ${name} must be`),
      );
    refused('REDIS_URL', 'redis:/h/14');
    refused('DATABASE_URL', 'postgres:/db.example/forecue');
    refused('PUBLIC_URL', 'https:/forecue.example');
    refused('HTTPS_PROXY', 'proxy.example:3128');
    refused('DATABASE_URL', 'postgres://forecue:100%@db.example/forecue');
  });

  it('spaces and line breaks around a setting do not count', () => {
    const values = { ...DATABASE, ...WEB, ...MODEL, PORT: '8081', HOST: '127.0.0.1', CONSOLE: 'off' };
    const spaced = Object.entries(values).map(([name, value]) => [name, ` ${value}\r\n`]);
    assert.deepEqual(ingressConfig(Object.fromEntries(spaced)), ingressConfig(values));
    assert.equal(ingressConfig({ ...values, PORT: ' ' }).port, 8080);
  });

  it('quotes around a setting, left over from a file of settings, stop a process with the name of the setting', () => {
    for (const [name, value] of Object.entries({
      HOST: '"127.0.0.1"',
      OPERATOR_HOST: "'localhost'",
      NODE_ENV: '"production"',
      SUPPORTED_MODELS: '"one,two"',
      MAIL_FROM: '"a@b.example"',
    }))
      assert.throws(
        () => ingressConfig({ ...DATABASE, ...WEB, ...MODEL, [name]: value }),
        new RegExp(`^ConfigError: configuration: ${name} must be [^;]*$`),
      );
    const fallbacks = { FALLBACK_MODELS: "'one,two'" };
    assert.throws(() => workerConfig({ ...DATABASE, ...MODEL, ...fallbacks }), /FALLBACK_MODELS must be/);
  });

  it('the command line and the migration need only DATABASE_URL, and ignore the settings of ingresses and workers', () => {
    const values = { ...DATABASE, ...INVALID_INGRESS_SETTINGS, ...INVALID_SERVER_SETTINGS };
    assert.equal(adminConfig({ ...values, PUBLIC_URL: '' }).database.url, DATABASE.DATABASE_URL);
    assert.equal(migrateConfig({ ...values, REDIS_URL: 'x' }).directUrl, DATABASE.DATABASE_URL);
  });
});
