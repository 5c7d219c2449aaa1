import { ConfigError } from './config/env.ts';
import { createLog, type Log } from './log.ts';

/** A process that is up. `stop` finishes or hands back what is in hand; it is called once. */
export interface Running {
  /** Where it serves, for whoever started it. */
  url?: string;
  stop(): Promise<void>;
}

/** What a supervisor is told over IPC. */
export interface ReadyMessage {
  type: 'ready';
  url?: string;
}

const STOP_WITHIN_MS = 25_000;

/**
 * Runs a process from its configuration to its end. A signal, as often as it comes, or the end of the parent that
 * watches over it stops it in order, within 25 s. A defect that nobody caught is logged, and ends it with code 1.
 */
export async function runMain<Config extends { logLevel: string }>(
  kind: string,
  configure: (values: NodeJS.ProcessEnv) => Config,
  start: (config: Config, log: Log) => Promise<Running>,
): Promise<void> {
  const config = configured(() => configure(process.env));
  const log = createLog(kind, config.logLevel);
  let running: Running | undefined;
  const stop = stopOnce(log, () => running);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal, 0));
  process.on('disconnect', () => stop('parent gone', 0));
  for (const defect of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(defect, (error: unknown) => {
      log.fatal({ err: error }, defect);
      stop(defect, 1);
    });
  }

  try {
    running = await start(config, log);
  } catch (error) {
    log.fatal({ err: error }, 'could not start');
    stop('could not start', 1);
    return;
  }
  log.info({ url: running.url }, 'ready');
  process.send?.({ type: 'ready', url: running.url } satisfies ReadyMessage);
}

function configured<Config>(configure: () => Config): Config {
  try {
    return configure();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

function stopOnce(log: Log, running: () => Running | undefined): (reason: string, exitCode: number) => void {
  let stopping = false;
  return (reason, exitCode) => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    Promise.resolve(running()?.stop())
      .catch((error: unknown) => log.error({ err: error }, 'stopping failed'))
      .finally(() => {
        log.info('stopped');
        process.exit(exitCode);
      });
  };
}
