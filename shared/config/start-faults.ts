import { ingressConfig, workerConfig } from './config.ts';
import { ConfigError } from './env.ts';
import { mcpConfig } from './mcp.ts';

/** Settings that only some processes require: an environment without them may be another process's. */
const REQUIRED_BY_SOME = / is required( by the model .*)?$/;

/** Returns why processes with these settings would not start. */
export function startFaults(values: NodeJS.ProcessEnv): string[] {
  const faults = [ingressConfig, workerConfig, mcpConfig].flatMap((read) => {
    try {
      read(values);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.faults;
    }
    return [];
  });
  return [...new Set(faults)].filter(
    (fault) => fault.startsWith('MAIL_FROM') || !REQUIRED_BY_SOME.test(fault),
  );
}
