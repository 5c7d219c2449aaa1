import { ConfigError } from '../config/env.ts';
import { createLog, type Log } from '../log.ts';
import { STOP_LIMITS } from '../stop-limits.ts';
import { escapeInvisible, print } from '../text/visible.ts';

/** `stop` finishes or releases running work; it is called once. */
export interface RunningProcess {
  url?: string;
  operatorUrl?: string;
  stop(): Promise<void>;
}

/** Sent to the supervisor over IPC. */
export interface ReadyMessage {
  type: 'ready';
  url?: string;
  operatorUrl?: string;
}

/**
 * Runs a process from its configuration to its end. The first signal, or the end of its parent, stops it in an orderly
 * way within 25 s, or at once if it has not started yet. An uncaught error stops it with exit code 1.
 */
export async function runMain<Config extends { logLevel: string; tracing?: boolean }>(
  kind: string,
  configure: (values: NodeJS.ProcessEnv) => Config,
  start: (config: Config, log: Log) => Promise<RunningProcess>,
): Promise<void> {
  const config = readConfiguration(() => configure(process.env));
  const log = createLog(kind, config.logLevel);
  let running: RunningProcess | undefined;
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
    // Loads the OpenTelemetry SDK only if tracing is on.
    const traces = config.tracing ? (await import('../tracing/start.ts')).startTracing(kind, log) : undefined;
    const startedProcess = await start(config, log);
    running =
      traces === undefined
        ? startedProcess
        : { ...startedProcess, stop: () => startedProcess.stop().finally(traces.stop) };
  } catch (error) {
    for (const one of errorsOf(error)) log.fatal({ err: one }, 'could not start');
    stop('could not start', 1);
    return;
  }
  log.info({ url: running.url }, 'ready');
  const { url, operatorUrl } = running;
  process.send?.({ type: 'ready', url, operatorUrl } satisfies ReadyMessage);
}

/** For `opening.adopt(await openPart(), closePart)`: closes the part when `opening` is disposed of. */
export function closePart(part: { close(): void | Promise<void> }): void | Promise<void> {
  return part.close();
}

/** Yields all errors of a disposal, earliest first. A `SuppressedError` contains a later error and the earlier ones. */
function* errorsOf(error: unknown): Generator<unknown> {
  if (error instanceof SuppressedError) {
    yield* errorsOf(error.suppressed);
    yield* errorsOf(error.error);
  } else yield error;
}

function readConfiguration<Config>(configure: () => Config): Config {
  try {
    return configure();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    print(`${escapeInvisible(error.message)}\n`, process.stderr);
    process.exit(1);
  }
}

function stopOnce(
  log: Log,
  running: () => RunningProcess | undefined,
): (reason: string, exitCode: number) => void {
  let isStopping = false;
  return (reason, exitCode) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => process.exit(1), STOP_LIMITS.process).unref();
    Promise.resolve(running()?.stop())
      .catch((error: unknown) => {
        for (const one of errorsOf(error)) log.error({ err: one }, 'a part failed to close');
      })
      .finally(() => {
        log.info('stopped');
        process.exit(exitCode);
      });
  };
}
