import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { predictionBody } from '../support/client.ts';
import { describeWhere } from '../support/describe-where.ts';
import { FAULTS, type Fault } from '../support/drill/faults.ts';
import { type Installation, startInstallation } from '../support/drill/installation.ts';
import { consultDoctor, pageOf, REMEDIES } from '../support/drill/operator.ts';
import type { FiringAlert } from '../support/prometheus.ts';
import { until } from '../support/until.ts';

const ALERT_WITHIN_MS = 90_000;
/** Two and a half minutes of the rules' time, so that more specific alerts than the first have fired too. */
const LOOK_MS = 10_000;
const MENDED_WITHIN_MS = 90_000;

const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;

/** Each fault is mended by an operator who knows only the firing alerts, their pages of the runbook, and `doctor`. */
describeWhere(hasPrometheus, 'faults of an installation', 'no prometheus', function () {
  this.timeout(300_000);
  let installation: Installation;
  // Time runs fifteen times as fast for the shipped rules.
  beforeEach(async () => {
    installation = await startInstallation();
  });
  afterEach(() => installation.close());

  for (const fault of FAULTS)
    it(`${fault.name}: an alert fires, its page of the runbook names the remedy, and the alert ends`, () =>
      drill(fault, installation));
});

async function drill(fault: Fault, installation: Installation): Promise<void> {
  await until(async () => (await installation.app.predict(predictionBody())).status === 200);
  assert.deepEqual(await installation.prometheus.firing(), [], 'an alert fires before anything is broken');
  await fault.inject(installation);
  await until(async () => (await mostSpecificAlert(installation)) !== undefined, ALERT_WITHIN_MS);
  await sleep(LOOK_MS);

  const firing = await installation.prometheus.firing();
  for (const { name, annotations } of firing)
    assert.ok(pageOf(annotations.runbook_url), `${name} leads to no page: ${annotations.runbook_url}`);
  const alert = await mostSpecificAlert(installation);
  assert.ok(alert, 'the alert that fired is over by itself');
  const findings = await consultDoctor(installation);
  const knowledge = { installation, alert, findings };
  const remedy = REMEDIES[alert.name]?.(knowledge);
  assert.ok(
    remedy && pageOf(alert.annotations.runbook_url)?.includes(remedy.words),
    `no page says ${remedy?.words}`,
  );
  await remedy.apply(knowledge);

  const alertNames = firing.map(({ name }) => name);
  assert.ok(alertNames.includes(fault.alert), `${fault.alert} does not fire, but ${alertNames}`);
  if (fault.doctor !== null) assert.match(findings.join('\n'), fault.doctor);
  await until(
    async () => (await installation.prometheus.firing()).every(({ name }) => name !== alert.name),
    MENDED_WITHIN_MS,
  );
  const { status } = await installation.app.predict(predictionBody());
  assert.equal(status, 200, 'calls are answered again');
}

async function mostSpecificAlert(installation: Installation): Promise<FiringAlert | undefined> {
  const firing = await installation.prometheus.firing();
  return Object.keys(REMEDIES).flatMap((name) => firing.find((one) => one.name === name) ?? [])[0];
}
