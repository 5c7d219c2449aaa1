import { migrate } from '../../../shared/process/migrate.ts';
import { restoreBackup, verifyBackup } from '../archive/read.ts';
import { writeBackup } from '../archive/write.ts';
import { required } from '../arguments.ts';
import { command, standalone } from '../command.ts';
import { openTarget } from '../target.ts';

export const backup = command({
  summary: 'Write all rows of one moment to a file, while the system runs',
  synopsis: 'FILE',
  example: 'forecue-2026-11-25.backup',
  operands: 1,
  read(_, operand) {
    const file = required('FILE', operand);
    return async ({ config }) => {
      const { version, taken_at, bytes } = await writeBackup(config.database.directUrl, file);
      const text = `${file} has every row of ${taken_at}, in ${bytes} bytes. It holds people's texts: keep it as safe as the database.`;
      return { data: { file, version, taken_at, bytes }, text };
    };
  },
});

export const restore = standalone({
  summary: 'Fill an empty database, or an embedded one that does not run, from a backup',
  synopsis: 'FILE',
  example: 'forecue-2026-11-25.backup',
  operands: 1,
  read(_, operand) {
    const file = required('FILE', operand);
    return async () => {
      const manifest = await verifyBackup(file);
      await using target = await openTarget(process.env);
      const { directUrl } = target.config.database;
      await migrate({ directUrl, queuePrefix: target.config.queuePrefix });
      const rows = await restoreBackup(directUrl, file, manifest);
      const { version, taken_at } = manifest;
      const text = `${rows} rows of ${taken_at} are restored. Start the processes, and look at them with \`doctor --live\`.`;
      return { data: { file, version, taken_at, rows }, text };
    };
  },
});
