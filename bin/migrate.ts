import { migrateConfig } from '../shared/config/config.ts';
import { ConfigError } from '../shared/config/env.ts';
import { createLog } from '../shared/log.ts';
import { migrate } from '../shared/process/migrate.ts';

try {
  const config = migrateConfig(process.env);
  await migrate(config);
  createLog('migrate', config.logLevel).info('the database is up to date');
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : `migrate: ${String(error)}`}\n`);
  process.exitCode = 1;
}
