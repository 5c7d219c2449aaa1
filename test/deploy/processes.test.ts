import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type IngressConfig,
  ingressConfig,
  migrateConfig,
  POOLS,
  type WorkerConfig,
  workerConfig,
} from '../../shared/config/config.ts';
import { mcpConfig } from '../../shared/config/mcp.ts';
import { ingressSettings, workerSettings } from '../../shared/config/published-settings.ts';
import { SECRETS, SETTING_NAMES } from '../../shared/config/settings.ts';
import {
  COMPOSE,
  composeProcesses,
  type DeployedProcess,
  type Deployment,
  kubernetesProcesses,
  PROCFILE,
  systemdProcesses,
} from '../support/deployments.ts';

const PRODUCTION_DOCS = readFileSync('docs/production.md', 'utf8');

/** Variables that an operator sets for compose; each name is in docs/production.md. */
const DOTENV = {
  POSTGRES_PASSWORD: 'p',
  JWT_SECRET: 'a secret of 32 bytes at the least',
  ADMIN_TOKEN: 'a token of 32 bytes at the very least',
  PUBLIC_URL: 'https://forecue.example',
  OPENAI_API_KEY: 'sk-1',
  DEFAULT_MODEL: 'one',
  GRAFANA_PASSWORD: 'g',
};

const FORMS = {
  compose: composeProcesses(DOTENV),
  kubernetes: kubernetesProcesses(),
  systemd: systemdProcesses({ PUBLIC_URL: 'https://forecue.example', DEFAULT_MODEL: 'one' }),
};

const SECRET_FILES = new Set([...SECRETS].map((name) => `${name}_FILE`));

/** Values for the secrets that `deploy/` leaves to the operator. */
const SECRET_VALUES: Record<string, string> = {
  DATABASE_URL: 'postgres://db.example/forecue',
  JWT_SECRET: DOTENV.JWT_SECRET,
  ADMIN_TOKEN: DOTENV.ADMIN_TOKEN,
  OPENAI_API_KEY: 'sk-1',
};

function withSecrets(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      const secret = name.replace(/_FILE$/, '');
      return SECRET_FILES.has(name) ? [secret, SECRET_VALUES[secret] ?? assert.fail(name)] : [name, value];
    }),
  );
}

/** Returns the configuration that a process reads from its environment. Throws if a setting is missing or invalid. */
function readConfig({ args, env }: DeployedProcess) {
  const values = withSecrets(env);
  const [entry, service] = args.split(' ');
  if (entry === 'workers/main.ts')
    return {
      kind: 'worker',
      ...workerConfig(
        values,
        POOLS.filter((pool) => pool === service),
      ),
    };
  if (args === 'ingress/main.ts') return { kind: 'web', ...ingressConfig(values) };
  if (args === 'ingress/mcp/main.ts') return { kind: 'mcp', ...mcpConfig(values) };
  return { kind: 'release', ...migrateConfig(values) };
}

for (const [form, deployment] of Object.entries(FORMS))
  describe(`processes of ${form}`, () => {
    it(`the ${form} deployment runs the processes of the Procfile, with the same commands`, () => {
      const commands = new Map([...deployment].map(([name, { args }]) => [name, args]));
      assert.deepEqual(new Map([...commands].sort()), new Map([...PROCFILE].sort()));
      for (const args of commands.values()) assert.ok(existsSync(args.split(' ', 1).join()), args);
      for (const pool of POOLS) assert.ok(deployment.has(pool), pool);
    });

    it(`the ${form} deployment sets only existing settings, and each process has a valid production configuration`, () => {
      for (const [name, process] of deployment) {
        const unknown = Object.keys(process.env).filter(
          (key) => !SETTING_NAMES.has(key) && !SECRET_FILES.has(key),
        );
        assert.deepEqual(unknown, [], name);
        assert.equal(process.env['NODE_ENV'], 'production', name);
        readConfig(process);
      }
    });

    it(`the ${form} deployment gives each process only the secrets that it needs`, () => {
      const secrets = (name: string) =>
        Object.keys(withSecrets(deployment.get(name)?.env ?? {}))
          .filter((key) => [...SECRETS].some((secret) => secret === key && key in SECRET_VALUES))
          .sort();
      assert.deepEqual(secrets('web'), ['ADMIN_TOKEN', 'DATABASE_URL', 'JWT_SECRET']);
      for (const pool of POOLS) assert.deepEqual(secrets(pool), ['DATABASE_URL', 'OPENAI_API_KEY']);
      assert.deepEqual(secrets('mcp'), []);
      for (const name of ['scheduler', 'release']) assert.deepEqual(secrets(name), ['DATABASE_URL']);
    });

    it(`one of each process of the ${form} deployment opens no more connections than a stock PostgreSQL takes, even with the queues in it`, () => {
      const needed = [...deployment.values()].reduce((sum, { args, env }) => {
        const config = readConfig({ args, env: { ...env, REDIS_URL: '' } });
        if (config.kind === 'web') return sum + ingressSettings(config as IngressConfig).connections;
        return config.kind === 'worker' ? sum + workerSettings(config as WorkerConfig).connections : sum;
      }, 0);
      assert.ok(needed <= 97, `${needed} connections`);
    });
  });

interface Ports {
  operator: { host: string; port: number };
  host?: string;
  port?: number;
}

function portsOf(deployment: Deployment): Map<string, Ports> {
  const ports = new Map<string, Ports>();
  for (const [name, process] of deployment) {
    const config = readConfig(process);
    if ('port' in config)
      ports.set(name, { operator: config.operator, host: config.host, port: config.port });
    else if ('operator' in config) ports.set(name, { operator: config.operator });
  }
  return ports;
}

describe('container ports', () => {
  it('containers listen on all addresses: at port 9460 for operators, 8080 for web, and 8090 for mcp', () => {
    for (const form of ['compose', 'kubernetes'] as const)
      for (const [name, { operator, host, port }] of portsOf(FORMS[form])) {
        assert.deepEqual(operator, { host: '0.0.0.0', port: 9460 }, `${form} ${name}`);
        assert.equal(port, { web: 8080, mcp: 8090 }[name], `${form} ${name}`);
        if (port !== undefined) assert.equal(host, '0.0.0.0');
      }
    const exposed = readFileSync('deploy/Dockerfile', 'utf8').match(/^EXPOSE (.+)$/m)?.[1];
    assert.equal(exposed, '8080 8090 9460');
  });

  it("the compose file publishes ports on the loopback address only, and of the product only HTTP ports and web's operator port", () => {
    for (const [name, { ports = [] }] of Object.entries(COMPOSE.services))
      for (const published of ports) {
        assert.match(published, /^127\.0\.0\.1:/, name);
        const inside = Number(published.split(':').at(-1));
        const own = portsOf(FORMS.compose).get(name);
        if (own !== undefined)
          assert.ok(inside === own.port || (name === 'web' && inside === own.operator.port));
      }
  });
});

it('each systemd unit has its own operator port, on the loopback address', () => {
  const operators = [...portsOf(FORMS.systemd).values()].map(({ operator }) => operator);
  assert.equal(new Set(operators.map(({ port }) => port)).size, PROCFILE.size - 1);
  for (const { host } of operators) assert.equal(host, '127.0.0.1');
});

describe('compose file', () => {
  it('the compose file mounts only files that exist', () => {
    const files = Object.values(COMPOSE.services)
      .flatMap(({ volumes = [] }) => volumes)
      .flatMap((volume) => (volume.startsWith('./') ? volume.split(':', 1) : []));
    assert.ok(files.length >= 5);
    for (const file of files) assert.ok(existsSync(join('deploy', file)), file);
  });

  it('every variable in the compose file is a setting or is named in docs/production.md', () => {
    const text = readFileSync('deploy/compose.yaml', 'utf8');
    for (const [, name = ''] of text.matchAll(/\$\{(\w+)/g))
      assert.ok(PRODUCTION_DOCS.includes(name) || SETTING_NAMES.has(name), name);
    for (const [, name = ''] of text.matchAll(/\$\{(\w+):\?/g))
      assert.ok(PRODUCTION_DOCS.includes(`${name}=`), name);
  });

  it('each setting of settings.env reaches every compose process, unless the compose file sets it', () => {
    const settings = { FALLBACK_MODELS: 'other', OPERATOR_HOST: '192.0.2.1' };
    for (const [name, { env }] of composeProcesses(DOTENV, settings)) {
      assert.equal(env['FALLBACK_MODELS'], 'other', name);
      assert.equal(env['OPERATOR_HOST'], '0.0.0.0', name);
    }
    assert.ok(PRODUCTION_DOCS.includes('`settings.env`'));
  });

  it('the compose file passes the mail settings of .env to the ingress and the scheduler only', () => {
    const mail = { SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'forecue@mail.example' };
    const compose = composeProcesses({ ...DOTENV, ...mail });
    const withMail = [...compose].filter(([, { env }]) => env['SMTP_URL'] === mail.SMTP_URL);
    assert.deepEqual(
      withMail.map(([name]) => name),
      ['web', 'scheduler'],
    );
    for (const [, service] of withMail) readConfig(service);
  });

  it("the compose file forbids Redis to evict data, and the product's processes to write files", () => {
    assert.match(COMPOSE.services['redis']?.command.join(' ') ?? '', /--maxmemory-policy noeviction/);
    for (const [name, service] of Object.entries(COMPOSE.services))
      if (service.image === 'forecue') assert.ok('read_only' in service && service.read_only, name);
  });
});

it('Prometheus scrapes the operator port of each compose process, under the job name `forecue`', () => {
  const text = readFileSync('deploy/observability/prometheus.yml', 'utf8');
  const [, scraped = ''] = text.match(/names: \[(.+)\]/) ?? [];
  assert.deepEqual(scraped.split(', ').sort(), [...portsOf(FORMS.compose).keys()].sort());
  assert.match(text, /port: 9460$/m);
  assert.match(text, /job_name: forecue$/m);
});
