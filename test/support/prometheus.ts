import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** Scrapes come every second instead of every 15 s, and all times in the rules shrink alike. */
const SPEED_UP = 15;
const DURATION = /(for: |\[)(\d+)([sm])\b/g;

export interface FiringAlert {
  name: string;
  labels: Record<string, string>;
  annotations: { summary: string; runbook_url: string };
}

export interface Prometheus {
  firing(): Promise<FiringAlert[]>;
  close(): Promise<void>;
}

/** Starts Prometheus, which scrapes the operator ports of these processes under their names. */
export async function startPrometheus(targets: ReadonlyMap<string, number>): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'forecue-prometheus-'));
  await chmod(folder, 0o755);
  const rules = readFileSync('deploy/observability/rules.yml', 'utf8').replace(DURATION, shortenDuration);
  await writeFile(join(folder, 'rules.yml'), rules);
  await writeFile(join(folder, 'prometheus.yml'), configuration(targets));
  const port = await freePort();
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ];
  const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const url = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    async firing() {
      const response = await fetch(`${url}/api/v1/alerts`);
      const { data } = (await response.json()) as { data: { alerts: Alert[] } };
      return data.alerts.flatMap(({ state, labels: { alertname = '', ...labels }, annotations }) =>
        state === 'firing' ? { name: alertname, labels, annotations } : [],
      );
    },
    async close() {
      process.off('exit', kill);
      if (child.exitCode === null && kill()) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Alert {
  state: string;
  labels: Record<string, string>;
  annotations: FiringAlert['annotations'];
}

function shortenDuration(_: string, before: string, length: string, unit: string): string {
  return `${before}${(Number(length) * (unit === 'm' ? 60 : 1)) / SPEED_UP}s`;
}

function configuration(targets: ReadonlyMap<string, number>): string {
  const targetLines = [...targets].map(
    ([instance, port]) => `      - { targets: ['127.0.0.1:${port}'], labels: { instance: ${instance} } }`,
  );
  return [
    'global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }',
    'rule_files: [rules.yml]',
    'scrape_configs:',
    '  - job_name: forecue',
    '    static_configs:',
    ...targetLines,
    '',
  ].join('\n');
}
