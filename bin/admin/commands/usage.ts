import type { EntityManager } from '@mikro-orm/postgresql';
import type { Account } from '../../../shared/db/entities/account.ts';
import { findAnyAccount, findByEmail } from '../../../shared/db/stores/accounts.ts';
import { accountSpending, appSpending } from '../../../shared/db/stores/provider-calls.ts';
import { currentMonth, listUsage, readUsage } from '../../../shared/db/stores/usage.ts';
import { spendingReport, usageReport } from '../../../shared/domain/usage.ts';
import { AdminError } from '../admin-error.ts';
import { appId, month, unknownApp, userId } from '../arguments.ts';
import { type Admin, command, type Outcome } from '../command.ts';
import { fieldsOutcome, table } from '../text.ts';

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
  'provider_input_tokens',
  'provider_cached_tokens',
  'provider_output_tokens',
  'provider_cost_cents',
] as const;

export const usage = command({
  summary: 'Show the units and the cost of one app, of all, or of a user, in a month',
  synopsis: '[APP_ID | --user USER_ID|EMAIL] [--month YYYY-MM]',
  example: '--month 2026-11',
  options: { month: { type: 'string' }, user: { type: 'string' } },
  operand: (value) => (value === undefined ? undefined : appId(value)),
  // Ten minutes, because the command may have to add up all of a month's provider calls.
  statementMs: 600_000,
  read({ month: given, user }, id) {
    const requestedMonth = given === undefined ? undefined : month(given);
    if (user !== undefined) {
      if (id !== undefined) throw new AdminError('give an app or --user, not both');
      const find = accountFinder(user);
      return (admin) => usageOfUser(admin, find, requestedMonth);
    }
    return (admin) =>
      id === undefined ? usageOfAll(admin, requestedMonth) : usageOfApp(admin, id, requestedMonth);
  },
});

async function usageOfApp(
  { em, config }: Admin,
  id: string,
  requestedMonth: string | undefined,
): Promise<Outcome> {
  const found = await readUsage(em, id, requestedMonth);
  if (found === undefined) throw unknownApp(id);
  const spending = await appSpending(em, [id], found.month);
  const units = usageReport(found.app, found.month, found.counts, config.sandboxUnits);
  return fieldsOutcome({ ...units, ...spendingReport(spending.get(id)) });
}

async function usageOfAll({ em, config }: Admin, requestedMonth: string | undefined): Promise<Outcome> {
  const shownMonth = requestedMonth ?? (await currentMonth(em));
  const found = await listUsage(em, shownMonth);
  const ids = found.map(({ app }) => app.id);
  const spending = await appSpending(em, ids, shownMonth);
  const data = found.map(({ app, month, counts }) => ({
    ...usageReport(app, month, counts, config.sandboxUnits),
    ...spendingReport(spending.get(app.id)),
  }));
  return { data, text: table(data, COLUMNS) };
}

/** Shows only the cost of provider calls: accounts have no units. */
async function usageOfUser(
  { em }: Admin,
  find: (em: EntityManager) => Promise<Account | undefined>,
  requestedMonth: string | undefined,
): Promise<Outcome> {
  const account = await find(em);
  if (account === undefined) throw new AdminError('there is no such user: `user list` shows the users');
  const shownMonth = requestedMonth ?? (await currentMonth(em));
  const spending = await accountSpending(em, account.id, shownMonth);
  const { id, email } = account;
  return fieldsOutcome({ user_id: id, email, month: shownMonth, ...spendingReport(spending) });
}

function accountFinder(user: string): (em: EntityManager) => Promise<Account | undefined> {
  if (user.includes('@')) return (em) => findByEmail(em, user);
  const id = userId(user);
  return (em) => findAnyAccount(em, id);
}
