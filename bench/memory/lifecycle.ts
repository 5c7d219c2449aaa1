import { parseArgs } from 'node:util';
import pg from 'pg';
import { install, startProduct } from '../installation.ts';
import { openPostgres } from '../stores.ts';
import { HELD_OUT } from './held-out.ts';
import { type Life, live } from './life.ts';
import { makePersonas } from './personas.ts';
import { figuresOf } from './report.ts';
import { startScriptedProvider } from './scripted-provider.ts';
import { TOPICS } from './topics.ts';

/**
 * Measures the life of a memory: scripted people record, sync, promote, ask, delete and erase at an installation
 * started for this run, and what it remembers is compared with what they said. `--provider` is `scripted` (a model that
 * makes mistakes as models do), `local` (no model), or `environment` (`OPENAI_API_KEY`, `OPENAI_BASE_URL`,
 * `DEFAULT_MODEL`). Exits with 1 if a figure misses its target.
 */
const { values: options } = parseArgs({
  options: {
    provider: { type: 'string', default: 'scripted' },
    personas: { type: 'string', default: '12' },
    sessions: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    /** Uses topics for which no rule of the product was written. */
    'held-out': { type: 'boolean', default: false },
    /** Number of personas that live at the same time. */
    together: { type: 'string', default: '3' },
    /** Prints the mistakes in the facts on standard error. */
    show: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

async function run(): Promise<boolean> {
  await using resources = new AsyncDisposableStack();
  const postgres = resources.use(await openPostgres());
  const { databaseUrl } = resources.use(await install(postgres.url, 'bench'));
  const env = { DATABASE_URL: databaseUrl, ...(await providerOf(options.provider, resources)) };
  const { web } = await startProduct(resources, {
    name: 'memory',
    providerUrl: 'http://127.0.0.1:9',
    queuePrefix: 'bench',
    pool: 'memory',
    env: { web: env, worker: env },
  });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  resources.defer(() => pool.end());

  const topics = options['held-out'] ? HELD_OUT : TOPICS;
  const personasLeft = makePersonas({
    topics,
    seed: Number(options.seed),
    personas: Number(options.personas),
    sessions: Number(options.sessions),
  });
  const lives: Life[] = [];
  const liveInTurn = async () => {
    for (let next = personasLeft.shift(); next; next = personasLeft.shift()) {
      const life = await live({ url: web.url, pool, topics }, next);
      lives.push(life);
      process.stderr.write(`${next.name} has lived\n`);
      if (options.show) process.stderr.write(life.mistakes.map((line) => `  ${line}\n`).join(''));
    }
  };
  await Promise.all(Array.from({ length: Number(options.together) }, liveInTurn));
  const figures = figuresOf(lives);
  const lines = figures.map(
    ({ name, value, must }) =>
      `${name.padEnd(60)}${value.padStart(18)}${must && !must.kept ? `   must be ${must.is}` : ''}`,
  );
  process.stdout.write(options.json ? `${JSON.stringify({ figures, lives })}\n` : `${lines.join('\n')}\n`);
  return figures.every(({ must }) => must?.kept ?? true);
}

async function providerOf(name: string, resources: AsyncDisposableStack): Promise<Record<string, string>> {
  switch (name) {
    case 'scripted': {
      const provider = resources.use(await startScriptedProvider());
      return { OPENAI_BASE_URL: provider.url, DEFAULT_MODEL: 'scripted' };
    }
    case 'local':
      return { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', DEFAULT_MODEL: 'local' };
    case 'environment': {
      const { OPENAI_API_KEY = '', OPENAI_BASE_URL = '', DEFAULT_MODEL = '' } = process.env;
      if (DEFAULT_MODEL === '') throw new TypeError('DEFAULT_MODEL names the model');
      // A model behind a network takes longer than one in a test.
      const patience = { PROVIDER_TIMEOUT_MS: '60000', PROMOTE_TIMEOUT_MS: '600000' };
      return { OPENAI_API_KEY, OPENAI_BASE_URL, DEFAULT_MODEL, ...patience };
    }
    default:
      throw new TypeError(`--provider is scripted, local or environment, not ${name}`);
  }
}

process.exitCode = (await run()) ? 0 : 1;
