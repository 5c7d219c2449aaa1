import { adminConfig } from '../../../shared/config/config.ts';
import { copyDatabase, fillDatabase } from '../archive/copy.ts';
import { verifyBackup } from '../archive/read.ts';
import { writeBackup } from '../archive/write.ts';
import { requireValue } from '../arguments.ts';
import { command, standaloneCommand } from '../command.ts';
import { DATA_FOLDER, openEmbedded, openTarget } from '../target.ts';

export const backup = command({
  summary: 'Write all rows of one moment to a file, while the system runs',
  synopsis: 'FILE',
  example: 'forecue-2026-11-25.backup',
  operands: 1,
  read(_, operand) {
    const file = requireValue('FILE', operand);
    return async ({ config }) => {
      const { version, taken_at, bytes } = await writeBackup(config.database.directUrl, file);
      const text = `${file} has every row of ${taken_at}, in ${bytes} bytes. It holds people's texts: keep it as safe as the database.`;
      return { data: { file, version, taken_at, bytes }, text };
    };
  },
});

export const restore = standaloneCommand({
  summary: 'Fill an empty database, or an embedded one that does not run, from a backup',
  synopsis: 'FILE',
  example: 'forecue-2026-11-25.backup',
  operands: 1,
  read(_, operand) {
    const file = requireValue('FILE', operand);
    return async () => {
      const manifest = await verifyBackup(file);
      await using target = await openTarget(process.env);
      const rows = await fillDatabase(target.config, file, manifest);
      const { version, taken_at } = manifest;
      const text = `${rows} rows of ${taken_at} are restored. Start the processes, and look at them with \`doctor --live\`.`;
      return { data: { file, version, taken_at, rows }, text };
    };
  },
});

export const move = standaloneCommand({
  summary: 'Copy the stopped embedded database to the empty one of DATABASE_URL',
  synopsis: '',
  example: '',
  read() {
    return async () => {
      const target = adminConfig(process.env);
      await using embedded = await openEmbedded(process.env);
      const rows = await copyDatabase(embedded.config, target, DATA_FOLDER);
      const text = `${rows} rows are moved. Start with this DATABASE_URL, and with the JWT_SECRET of .data/jwt-secret, so that people stay logged in. The embedded database is as it was.`;
      return { data: { rows }, text };
    };
  },
});
