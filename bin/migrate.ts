import { migrateConfig } from '../shared/config/config.ts';
import { ConfigError } from '../shared/config/env.ts';
import { messageOf } from '../shared/errors/message-of.ts';
import { createLog } from '../shared/log.ts';
import { migrate } from '../shared/process/migrate.ts';
import { print } from '../shared/text/visible.ts';

try {
  const config = migrateConfig(process.env);
  await migrate(config);
  createLog('migrate', config.logLevel).info('the database is up to date');
} catch (error) {
  print(`${error instanceof ConfigError ? error.message : `migrate: ${messageOf(error)}`}\n`, process.stderr);
  process.exitCode = 1;
}
