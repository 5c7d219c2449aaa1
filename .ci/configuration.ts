import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminConfig, ingressConfig, migrateConfig, workerConfig } from '../shared/config/config.ts';
import { ConfigError, Env } from '../shared/config/env.ts';
import { mcpConfig, stdioConfig } from '../shared/config/mcp.ts';
import { SECRETS, SETTINGS } from '../shared/config/settings.ts';

const DOCUMENT = join(import.meta.dirname, '../docs/configuration.md');
const BEGIN = '<!-- settings: npm run configuration -->\n';
const END = '<!-- /settings -->';
const READERS = {
  ingress: ingressConfig,
  workers: workerConfig,
  mcp: mcpConfig,
  'bin/mcp': stdioConfig,
  admin: adminConfig,
  migrate: migrateConfig,
};

interface Use {
  readers: Set<string>;
  /** Default values, each with the first reader that uses it. */
  defaults: Map<string, string>;
  range: string;
}

/**
 * Writes the tables of docs/configuration.md: what each variable means, from `SETTINGS`; its default, range and the
 * processes that read it, from the code that reads it. With `--check`, writes nothing, and exits with 1 if the tables
 * are out of date.
 */
const uses = new Map<string, Use>();
for (const [reader, read] of Object.entries(READERS)) observe(reader, () => read({}));
const document = readFileSync(DOCUMENT, 'utf8');
const [before = '', rest = ''] = document.split(BEGIN);
const [, after = ''] = rest.split(END);
const current = `${before}${BEGIN}${tables()}${END}${after}`;
if (!process.argv.includes('--check')) writeFileSync(DOCUMENT, current);
else if (current !== document)
  fail('docs/configuration.md: the settings have changed: npm run configuration');

/** Records every variable that `read` asks for, by replacing the methods with which `Env` reads variables. */
function observe(reader: string, read: () => void): void {
  const note = (name: string, fallback = '', range = '') => {
    const use = uses.get(name) ?? { readers: new Set(), defaults: new Map(), range };
    if (fallback !== '') use.defaults.set(fallback, use.defaults.get(fallback) ?? reader);
    if (range !== '') use.range = range;
    use.readers.add(reader);
    uses.set(name, use);
  };
  Env.prototype.text = (name) => void note(name);
  Env.prototype.url = (name) => void note(name);
  Env.prototype.parsed = (name) => void note(name);
  Env.prototype.pattern = (name, fallback) => {
    note(name, `\`${fallback}\``);
    return fallback;
  };
  Env.prototype.choice = (name, fallback, choices) => {
    note(name, `\`${fallback}\``, choices.map((choice) => `\`${choice}\``).join(', '));
    return fallback;
  };
  Env.prototype.integer = (name, fallback, { min, max }) => {
    note(name, `${fallback}`, `${min} to ${max}`);
    return fallback;
  };
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
}

function tables(): string {
  const secrets = [...SECRETS].map((name) => `\`${name}\``).join(', ');
  const subjects = Object.entries(SETTINGS).map(([subject, settings]) => {
    const rows = Object.entries(settings).map(([name, setting]) => row(name, setting));
    return `\n## ${subject}\n\n| variable | default | values | read by | meaning |\n|---|---|---|---|---|\n${rows.join('')}`;
  });
  return `${subjects.join('')}\n## Secrets from files\n\n${secrets}: each may be in a file, which the variable with \`_FILE\` at its end names.\nSetting both is an error.\n`;
}

function row(name: string, setting: string | readonly [string, string]): string {
  const use = uses.get(name);
  if (use === undefined) return fail(`shared/config/settings.ts: nothing reads ${name}`);
  const [unset, meaning] = typeof setting === 'string' ? [defaultOf(use), setting] : setting;
  const readers = [...use.readers];
  const by = readers.length === Object.keys(READERS).length ? 'all' : readers.join(', ');
  return `| \`${name}\` | ${unset} | ${use.range} | ${by} | ${meaning} |\n`;
}

function defaultOf({ defaults }: Use): string {
  if (defaults.size < 2) return [...defaults.keys()].join();
  return [...defaults].map(([value, reader]) => `${value} ${reader}`).join(', ');
}

function fail(message: string): string {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
  return '';
}
