import { readdirSync, readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';

/** A process as a file in `deploy/` starts it. */
export interface DeployedProcess {
  args: string;
  env: Record<string, string>;
}

/** Processes by their name in the Procfile. */
export type Deployment = Map<string, DeployedProcess>;

/** Arguments of `bin/node` for each process in the Procfile. */
export const PROCFILE = new Map(
  [...readFileSync('Procfile', 'utf8').matchAll(/^(\w+): bin\/node (.+)$/gm)].map(
    ([, name = '', args = '']) => [name, args] as const,
  ),
);

const ENV_LINE = /^ENV (.+)$/m;
const IMAGE_VARIABLES = Object.fromEntries(
  (readFileSync('deploy/Dockerfile', 'utf8').match(ENV_LINE)?.[1] ?? '')
    .split(' ')
    .map((pair) => pair.split('=')),
);

interface ComposeService {
  image: string;
  command: string[];
  environment?: Record<string, string>;
  env_file?: { path: string }[];
  ports?: string[];
  volumes?: string[];
}

export const COMPOSE: { services: Record<string, ComposeService> } = parse(
  readFileSync('deploy/compose.yaml', 'utf8'),
  { merge: true },
);

function interpolate(value: string, settings: Record<string, string>): string {
  return value.replace(/\$\{(\w+):([?-])([^}]*)\}/g, (_, name, kind, other) => {
    const set = settings[name] ?? (kind === '-' ? other : undefined);
    if (set === undefined) throw new Error(`${name} is not set: ${other}`);
    return set;
  });
}

/** Returns the processes of the compose file, with an operator's `.env` and `settings.env`. */
export function composeProcesses(
  dotenv: Record<string, string>,
  settings: Record<string, string> = {},
): Deployment {
  const forecueServices = Object.entries(COMPOSE.services).filter(([, { image }]) => image === 'forecue');
  return new Map(
    forecueServices.map(([name, { command, environment = {}, env_file: files = [] }]) => {
      const ownVariables = Object.entries(environment).map(([key, value]) => [
        key,
        interpolate(value, dotenv),
      ]);
      const commonVariables = files.some(({ path }) => path === 'settings.env') ? settings : {};
      return [
        name,
        {
          args: command.join(' '),
          env: { ...IMAGE_VARIABLES, ...commonVariables, ...Object.fromEntries(ownVariables) },
        },
      ];
    }),
  );
}

/** Any Kubernetes object. `test/deploy/kubernetes.test.ts` checks it against the type of its kind. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  // biome-ignore lint/suspicious/noExplicitAny: its shape is checked by the compiler, from its text
  spec: any;
  data?: Record<string, string>;
}

const KUBERNETES_FOLDER = 'deploy/kubernetes';

export const OBJECTS: KubernetesObject[] = parse(
  readFileSync(`${KUBERNETES_FOLDER}/kustomization.yaml`, 'utf8'),
).resources.flatMap((file: string) =>
  parseAllDocuments(readFileSync(`${KUBERNETES_FOLDER}/${file}`, 'utf8')).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join('; ')}`);
    return document.toJS();
  }),
);

export function objectsOf(...kinds: string[]): KubernetesObject[] {
  return OBJECTS.filter(({ kind }) => kinds.includes(kind));
}

export function kubernetesProcesses(): Deployment {
  const [settings] = objectsOf('ConfigMap');
  return new Map(
    objectsOf('Deployment', 'Job').map(({ spec }) => {
      const [{ name, args, env = [] }] = spec.template.spec.containers;
      const ownVariables = env.map((one: { name: string; value: string }) => [one.name, one.value]);
      return [
        name,
        {
          args: args.join(' '),
          env: { ...IMAGE_VARIABLES, ...settings?.data, ...Object.fromEntries(ownVariables) },
        },
      ];
    }),
  );
}

export const UNIT_FOLDER = 'deploy/systemd';

/** Returns the processes of the systemd units; `environment` stands for /etc/forecue/environment. */
export function systemdProcesses(environment: Record<string, string>): Deployment {
  const files = readdirSync(UNIT_FOLDER).filter((file) => file.endsWith('.service'));
  const commonVariables = variablesOf(readFileSync(`${UNIT_FOLDER}/forecue-.service.d/common.conf`, 'utf8'));
  return new Map(
    files.map((file) => {
      const text = readFileSync(`${UNIT_FOLDER}/${file}`, 'utf8');
      const args = text.match(/^ExecStart=\/opt\/forecue\/bin\/node (.+)$/m)?.[1] ?? '';
      const name = file.replace(/^forecue-|\.service$/g, '');
      return [name, { args, env: { ...commonVariables, ...environment, ...variablesOf(text) } }];
    }),
  );
}

function variablesOf(unit: string): Record<string, string> {
  return Object.fromEntries(
    [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
}
