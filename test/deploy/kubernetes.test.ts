import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { POOLS } from '../../shared/config/config.ts';
import { SECRETS } from '../../shared/config/settings.ts';
import { type KubernetesObject, OBJECTS, objectsOf } from '../support/deployments.ts';

/** Modules of `kubernetes-types` by API version, where the names differ. */
const MODULES: Record<string, string> = { v1: 'core/v1' };
const moduleOf = (apiVersion: string) => MODULES[apiVersion] ?? apiVersion.replace('.k8s.io', '');
const UNTYPED_APIS = ['keda.sh/v1alpha1', 'monitoring.coreos.com/v1'];

const pods = objectsOf('Deployment', 'Job').map(({ spec }) => spec.template);
const podsWith = (labels: object) =>
  pods.filter(({ metadata }) =>
    Object.entries(labels).every(([name, value]) => metadata.labels[name] === value),
  );
/** Returns the pods that a network policy selects. */
const selectedBy = ({ matchLabels = {}, matchExpressions = [] }: KubernetesObject['spec']) =>
  podsWith(matchLabels).filter(({ metadata: { labels } }) =>
    matchExpressions.every(({ key, values }: { key: string; values: string[] }) =>
      values.includes(labels[key]),
    ),
  );
const portsOf = (pod: KubernetesObject) => pod.spec.containers[0].ports ?? [];

describe('Kubernetes objects', () => {
  it('the kustomization.yaml for Kubernetes lists exactly the other files of its folder', async () => {
    const { resources } = parse(await readFile('deploy/kubernetes/kustomization.yaml', 'utf8'));
    const files = (await readdir('deploy/kubernetes')).filter((file) => file !== 'kustomization.yaml');
    assert.deepEqual([...resources].sort(), files.sort());
  });

  it('the Kubernetes objects have only fields that the Kubernetes API defines for their kinds', async () => {
    const own = OBJECTS.filter(({ apiVersion }) => !UNTYPED_APIS.includes(apiVersion));
    // The folder is inside the checkout, where the compiler finds the types.
    const folder = await mkdtemp('node_modules/.forecue-kubernetes-');
    try {
      const lines = own.map(
        (one) =>
          `(${JSON.stringify(one)}) satisfies import('kubernetes-types/${moduleOf(one.apiVersion)}').${one.kind};`,
      );
      const file = join(folder, 'objects.ts');
      await writeFile(file, `export {};\n${lines.join('\n')}\n`);
      const args = [
        '--noEmit',
        '--strict',
        '--ignoreConfig',
        '--module',
        'esnext',
        '--moduleResolution',
        'bundler',
      ];
      await promisify(execFile)('node_modules/.bin/tsc', [...args, file]).catch(({ stdout }) =>
        assert.fail(stdout.replaceAll(/^/gm, '  ')),
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('the probes of each Kubernetes Deployment request /healthz and /readyz at the operator port', () => {
    for (const { spec } of objectsOf('Deployment')) {
      const [{ name, livenessProbe, readinessProbe }] = spec.template.spec.containers;
      assert.deepEqual(livenessProbe.httpGet, { path: '/healthz', port: 'operator' }, name);
      assert.deepEqual(readinessProbe.httpGet, { path: '/readyz', port: 'operator' }, name);
      assert.ok(portsOf(spec.template).some((port: { name: string }) => port.name === 'operator'));
    }
  });

  it('the Kubernetes pods run as an unprivileged user, with a read-only root filesystem and no service account token', () => {
    for (const { spec } of pods) {
      assert.equal(spec.automountServiceAccountToken, false);
      assert.equal(spec.securityContext.runAsNonRoot, true);
      assert.deepEqual(spec.securityContext.seccompProfile, { type: 'RuntimeDefault' });
      assert.deepEqual(spec.containers[0].securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it('the Kubernetes grace period leaves each process at least 30 s to stop after its preStop command', () => {
    for (const { spec } of objectsOf('Deployment')) {
      const [{ lifecycle }] = spec.template.spec.containers;
      const before = Number(lifecycle?.preStop.exec.command[1] ?? 0);
      assert.ok(spec.template.spec.terminationGracePeriodSeconds >= before + 30);
    }
  });

  it('the Kubernetes services, disruption budgets, spread constraints and monitors select pods that exist', () => {
    for (const { metadata, spec } of objectsOf('Service')) {
      const [pod] = podsWith(spec.selector);
      for (const { targetPort } of spec.ports)
        assert.ok(
          portsOf(pod).some((port: { name: string }) => port.name === targetPort),
          metadata.name,
        );
    }
    const budgets = objectsOf('PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels);
    for (const { spec } of objectsOf('Deployment')) {
      const { labels } = spec.template.metadata;
      assert.deepEqual(spec.selector.matchLabels, labels);
      assert.ok(budgets.some((selected) => JSON.stringify(selected) === JSON.stringify(labels)));
      for (const { labelSelector } of spec.template.spec.topologySpreadConstraints)
        assert.deepEqual(labelSelector.matchLabels, labels);
    }
    for (const { spec } of objectsOf('PodMonitor')) {
      assert.ok(podsWith(spec.selector.matchLabels).length >= 6);
      assert.equal(pods[0].metadata.labels[spec.jobLabel], 'forecue', 'the job of the alerts');
    }
  });

  it('the Kubernetes network policies select pods that exist, and name only ports of those pods', () => {
    for (const { metadata, spec } of objectsOf('NetworkPolicy')) {
      const { matchExpressions = [] } = spec.podSelector;
      const selected = selectedBy(spec.podSelector);
      const wanted =
        matchExpressions.flatMap(({ values }: { values: string[] }) => values).length || pods.length;
      assert.equal(selected.length, wanted, metadata.name);
      for (const { port } of (spec.ingress ?? []).flatMap((rule: { ports: object[] }) => rule.ports))
        assert.ok(selected.some((pod) => portsOf(pod).some(({ name }: { name: string }) => name === port)));
    }
  });

  it('the Kubernetes network policies let each worker, as any sends webhooks, reach the internet at port 443', () => {
    const policies = objectsOf('NetworkPolicy').filter(({ spec }) =>
      spec.egress?.some((rule: KubernetesObject['spec']) => !rule.to && rule.ports[0].port === 443),
    );
    const reach = policies.flatMap(({ spec }) => selectedBy(spec.podSelector));
    for (const pod of pods)
      if (pod.spec.containers[0].args[0] === 'workers/main.ts')
        assert.ok(reach.includes(pod), pod.spec.containers[0].name);
  });

  it('the Kubernetes pods mount their secrets at the paths that their variables name', () => {
    for (const { spec } of pods) {
      const [{ env = [], volumeMounts = [] }] = spec.containers;
      const items =
        spec.volumes?.flatMap(({ secret }: { secret: { items: { key: string }[] } }) => secret.items) ?? [];
      const named = env.filter(({ name }: { name: string }) => name.endsWith('_FILE'));
      assert.deepEqual(
        named.map(({ name, value }: { name: string; value: string }) => [name, value]),
        items.map(({ key, path }: { key: string; path: string }) => [
          `${key}_FILE`,
          `${volumeMounts[0].mountPath}/${path}`,
        ]),
      );
      for (const { key } of items)
        assert.ok(
          [...SECRETS].some((secret) => secret === key),
          key,
        );
    }
  });
});

describe('Kubernetes scaling', () => {
  const scaled = objectsOf('ScaledObject');

  it('Kubernetes scales each pool by its /scale signal, read from a Service that the manifests define', () => {
    const urls = scaled.map(({ spec }) => new URL(spec.triggers[0].metadata.url));
    assert.deepEqual(
      urls.map(({ pathname }) => pathname),
      POOLS.map((pool) => `/scale/${pool}`),
    );
    const services = objectsOf('Service').map(({ metadata }) => metadata.name);
    for (const { hostname, port } of urls) {
      const [service = '', namespace] = hostname.split('.');
      assert.ok(services.includes(service));
      assert.equal(namespace, 'forecue');
      assert.equal(port, '9460');
    }
  });

  it('Kubernetes scales only Deployments that exist and set no number of replicas', () => {
    for (const { spec, metadata } of scaled) {
      const target = objectsOf('Deployment').find((one) => one.metadata.name === spec.scaleTargetRef.name);
      assert.ok(target, metadata.name);
      assert.equal(target.spec.replicas, undefined);
      assert.ok(spec.minReplicaCount >= 1, 'a pool without a worker refuses its work');
      assert.deepEqual(spec.triggers[0].metadata.valueLocation, 'desired');
    }
  });
});
