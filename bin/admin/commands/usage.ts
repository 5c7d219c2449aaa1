import { listUsage, readUsage } from '../../../shared/db/stores/usage.ts';
import { usageReport } from '../../../shared/domain/usage.ts';
import { appId, month, unknownApp } from '../arguments.ts';
import { type Admin, command, type Outcome } from '../command.ts';
import { lines, table } from '../text.ts';

const COLUMNS = [
  'app_id',
  'month',
  'plan',
  'prediction_units',
  'reserved_units',
  'paid_prediction_units',
  'invoice_cents',
  'monthly_cap_cents',
  'sandbox_remaining',
] as const;

export const usage = command({
  synopsis: '[APP_ID] [--month YYYY-MM]',
  options: { month: { type: 'string' } },
  operands: 1,
  read(values, operand) {
    const asked = values.month === undefined ? undefined : month(values.month);
    if (operand === undefined) return (admin) => usageOfAll(admin, asked);
    const id = appId(operand);
    return (admin) => usageOfOne(admin, id, asked);
  },
});

async function usageOfOne({ em, config }: Admin, id: string, asked: string | undefined): Promise<Outcome> {
  const found = await readUsage(em, id, asked);
  if (found === undefined) throw unknownApp(id);
  const data = usageReport(found.app, found.month, found.counts, config.sandboxUnits);
  return { data, text: lines(data) };
}

async function usageOfAll({ em, config }: Admin, asked: string | undefined): Promise<Outcome> {
  const found = await listUsage(em, asked);
  const data = found.map((one) => usageReport(one.app, one.month, one.counts, config.sandboxUnits));
  return { data, text: table(data, COLUMNS) };
}
