import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { predictionBody } from '../support/client.ts';
import { describeWhere } from '../support/describe-where.ts';
import { freePort } from '../support/free-port.ts';
import { useProcesses } from '../support/system.ts';

const FOLDER = 'deploy/observability';
const RULES = readFileSync(`${FOLDER}/rules.yml`, 'utf8');
const DASHBOARD = readFileSync(`${FOLDER}/dashboard.json`, 'utf8');
const MONITORING = readFileSync('docs/monitoring.md', 'utf8');
const RUNBOOK = readFileSync('docs/runbook.md', 'utf8');

describe('alerts', () => {
  it('each alert links to a heading of the runbook, and each heading has its alert', () => {
    const alerts = [...RULES.matchAll(/- alert: (\w+)/g)];
    const anchors = [...RULES.matchAll(/runbook_url: https:\/\/[\w.]+\/docs\/runbook\.md#([\w-]+)$/gm)].map(
      ([, anchor]) => anchor,
    );
    assert.equal(anchors.length, alerts.length);
    const headings = [...RUNBOOK.matchAll(/^## (.+)$/gm)].map(([, heading = '']) =>
      heading.toLowerCase().replaceAll(' ', '-'),
    );
    assert.deepEqual([...new Set(anchors)].sort(), headings.sort());
  });

  it('each runbook section describes the symptom, what to check, what to do, and how to know that the problem is over', () => {
    for (const section of RUNBOOK.split(/^## /m).slice(1))
      for (const part of ['Seen', 'Look at', 'Do', 'Over'])
        assert.ok(section.includes(`- **${part}**: `), `${part} is missing: ${section.split('\n', 1)}`);
  });
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

describeWhere(hasPromtool, 'rules', 'no promtool', () => {
  const promtool = (...args: string[]) => promisify(execFile)('promtool', args, { cwd: FOLDER });

  it('the Prometheus rules are valid', () => promtool('check', 'rules', 'rules.yml'));

  it('the Prometheus configuration of deploy/compose.yaml is valid and loads the rules', () =>
    promtool('check', 'config', 'prometheus.yml'));

  it('the Prometheus alerts fire as rules.test.yml says', () => promtool('test', 'rules', 'rules.test.yml'));
});

describe('documented metrics', () => {
  const system = useProcesses({ webs: 0, workers: 0 });
  let exposed: Map<string, string>;
  before(async () => {
    const ports = [await freePort(), await freePort()];
    await system.startWeb({ OPERATOR_PORT: String(ports[0]) });
    await system.startWorker({ OPERATOR_PORT: String(ports[1]) });
    await (await system.app()).predict(predictionBody());
    const texts = ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    const declared = [...(await Promise.all(texts)).join('').matchAll(/^# TYPE (\w+) (\w+)$/gm)];
    exposed = new Map(declared.map(([, name = '', type = '']) => [name, type]));
  });

  const isExposed = (name: string) => {
    const base = name.replace(/_(bucket|sum|count)$/, '');
    return exposed.has(name) || exposed.get(base) === 'histogram';
  };
  const namesIn = (text: string) => [
    ...new Set(text.match(/\b(forecue|nodejs|process)_[a-z0-9_]*[a-z0-9]\b/g)),
  ];

  it('every metric in the dashboard, the rules, docs/monitoring.md and docs/runbook.md is exposed by an ingress or a worker', () => {
    for (const text of [RULES, DASHBOARD, MONITORING, RUNBOOK])
      assert.deepEqual(
        namesIn(text).filter((name) => !isExposed(name)),
        [],
      );
    assert.ok(namesIn(DASHBOARD).length > 20);
  });

  it('every `forecue_` metric that an ingress or a worker exposes is in docs/monitoring.md', () => {
    const ours = [...exposed.keys()].filter((name) => name.startsWith('forecue_'));
    assert.deepEqual(
      ours.filter((name) => !MONITORING.includes(`\`${name}\``)),
      [],
    );
  });
});
