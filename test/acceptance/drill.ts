import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setUp } from '../setup.ts';
import { predictionBody } from '../support/client.ts';
import { FAULTS, type Fault } from '../support/drill/faults.ts';
import { type Installation, startInstallation } from '../support/drill/installation.ts';
import { consultDoctor, pageOf, REMEDIES } from '../support/drill/operator.ts';
import type { FiringAlert } from '../support/prometheus.ts';
import { until } from '../support/until.ts';

/**
 * By hand, as root, with Debian's Prometheus: ten faults in random order, each mended by an operator who knows only the
 * firing alerts, their runbook pages and `doctor`. Time runs fifteen times as fast for the shipped rules. `bin/node
 * test/acceptance/drill.ts --only clock,disk` takes only faults with one of these words in their names. Exits with 1 if
 * a fault's alert did not fire, had no page or kept firing after its remedy, or `doctor` did not find the fault.
 */
const { values: options } = parseArgs({ options: { only: { type: 'string', default: '' } } });

const ALERT_WITHIN_MS = 90_000;
/** Two and a half minutes of the rules' time, so that more specific alerts than the first have fired too. */
const LOOK_MS = 10_000;
const MENDED_WITHIN_MS = 90_000;

await using _ = await setUp();
let failed = 0;
const nameParts = options.only.split(',');
const faults = FAULTS.filter(({ name }) => nameParts.some((part) => name.includes(part)));
for (const fault of faults.toSorted(() => Math.random() - 0.5)) {
  const installation = await startInstallation();
  try {
    process.stdout.write(`${JSON.stringify(await drill(fault, installation))}\n`);
  } catch (error) {
    failed += 1;
    const firing = (await installation.prometheus.firing()).map(({ name }) => name);
    process.stdout.write(`${JSON.stringify({ fault: fault.name, failed: String(error), firing })}\n`);
  } finally {
    await installation.close();
  }
}
process.exitCode = failed === 0 ? 0 : 1;

async function drill(fault: Fault, installation: Installation) {
  await until(async () => (await installation.app.predict(predictionBody())).status === 200);
  assert.deepEqual(await installation.prometheus.firing(), [], 'an alert fires before anything is broken');
  const since = performance.now();
  await fault.inject(installation);
  await until(async () => (await mostSpecificAlert(installation)) !== undefined, ALERT_WITHIN_MS);
  const firedAfterS = seconds(since);
  await sleep(LOOK_MS);

  const firing = await installation.prometheus.firing();
  for (const { name, annotations } of firing)
    assert.ok(pageOf(annotations.runbook), `${name} leads to no page: ${annotations.runbook}`);
  const alert = await mostSpecificAlert(installation);
  assert.ok(alert, 'the alert that fired is over by itself');
  const findings = await consultDoctor(installation);
  const knowledge = { installation, alert, findings };
  const remedy = REMEDIES[alert.name]?.(knowledge);
  assert.ok(
    remedy && pageOf(alert.annotations.runbook)?.includes(remedy.words),
    `no page says ${remedy?.words}`,
  );
  const mendedAt = performance.now();
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
  return {
    fault: fault.name,
    alerts: [...new Set(alertNames)],
    firedAfterS,
    page: alert.annotations.runbook,
    doctor: findings,
    command: remedy.words,
    overAfterS: seconds(mendedAt),
  };
}

async function mostSpecificAlert(installation: Installation): Promise<FiringAlert | undefined> {
  const firing = await installation.prometheus.firing();
  return Object.keys(REMEDIES).flatMap((name) => firing.find((one) => one.name === name) ?? [])[0];
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}
