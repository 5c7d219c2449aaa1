import './quick-discovery.ts';
import './quick-counts.ts';
import { ingressConfig, workerConfig } from '../../shared/config/config.ts';
import { withSecrets } from '../../shared/config/development.ts';
import { createLog, type Log } from '../../shared/log.ts';
import type { RunningProcess } from '../../shared/process/lifecycle.ts';

/** Asks to start a part of an installation, or, without `entry`, to stop it. */
export interface HostRequest {
  part: number;
  /** File and arguments that would start the part as a separate process. */
  entry?: string[];
  env?: Record<string, string>;
}

export interface HostReply {
  part: number;
  url?: string;
  error?: string;
}

const parts = new Map<number, RunningProcess>();

process.on('message', async (request: HostRequest) => {
  const { part } = request;
  process.send?.({ part, ...(await answer(request).catch(failure)) } satisfies HostReply);
});
process.on('disconnect', () => process.exit());

async function answer({ part, entry, env = {} }: HostRequest): Promise<Omit<HostReply, 'part'>> {
  if (entry === undefined) {
    await parts.get(part)?.stop();
    parts.delete(part);
    return {};
  }
  const running = await start(part, entry, env);
  parts.set(part, running);
  return running.url === undefined ? {} : { url: running.url };
}

function failure(error: unknown): Omit<HostReply, 'part'> {
  return { error: error instanceof Error ? `${error.stack}` : String(error) };
}

async function start(
  part: number,
  [file, service = '']: string[],
  env: Record<string, string>,
): Promise<RunningProcess> {
  if (file === 'ingress/main.ts') {
    const { startIngress } = await import('../../ingress/compose.ts');
    const config = ingressConfig(withSecrets(env));
    return startIngress(config, logOf(part, 'web', config.logLevel));
  }
  const [{ startWorker }, { createHandlers }, { isScheduler, poolsOf }, { kinds }] = await Promise.all([
    import('../../workers/compose.ts'),
    import('../../workers/handlers.ts'),
    import('../../workers/compose.ts'),
    import('../../shared/work/kinds.ts'),
  ]);
  const pools = poolsOf(kinds, service);
  if (file !== 'workers/main.ts' || pools === undefined) throw new Error(`cannot host ${file} ${service}`);
  const config = workerConfig(env, pools);
  const served = { kinds, pools, createHandlers, schedules: isScheduler(service) };
  return startWorker(config, logOf(part, service, config.logLevel), served);
}

/** Creates a log whose lines begin with the part's number, because all parts share the standard output. */
function logOf(part: number, kind: string, level: string): Log {
  return createLog(kind, level, { write: (line) => void process.stdout.write(`${part} ${line}`) });
}
