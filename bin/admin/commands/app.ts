import { presentApp, readAppReport } from '../../../shared/db/stores/app-report.ts';
import { type AppChange, createApp, listApps, updateApp } from '../../../shared/db/stores/apps.ts';
import { refusalsByApp } from '../../../shared/db/stores/refusals.ts';
import { type PartyLoad, readPartyLoad } from '../../../shared/db/stores/work/operate.ts';
import { FEATURES } from '../../../shared/schemas/apps.ts';
import { PLANS } from '../../../shared/schemas/limits.ts';
import type { UsageResponse } from '../../../shared/schemas/usage.ts';
import { kinds } from '../../../shared/work/kinds.ts';
import { AdminError } from '../admin-error.ts';
import {
  appId,
  appName,
  capCents,
  choice,
  confidence,
  redirectUri,
  requireValue,
  unknownApp,
  userId,
} from '../arguments.ts';
import { type Admin, command, EXAMPLE_ID, type Outcome, usageError } from '../command.ts';
import { fieldLines, fieldsOutcome, table } from '../text.ts';

const APP_KINDS = Object.values(kinds).flatMap(({ name, parties }) => (parties === 'apps' ? name : []));

export const appCreate = command({
  summary: 'Create an app and its first key',
  synopsis: '--name N [--redirect-uri U]… [--native] [--plan sandbox|paid] [--cap-cents N] [--owner USER_ID]',
  example: '--name "My app" --redirect-uri https://app.example/back',
  options: {
    name: { type: 'string' },
    'redirect-uri': { type: 'string', multiple: true, default: [] },
    native: { type: 'boolean', default: false },
    owner: { type: 'string' },
    plan: { type: 'string', default: 'sandbox' },
    'cap-cents': { type: 'string', default: 'none' },
  },
  read(values) {
    const app = {
      name: appName(requireValue('--name', values.name)),
      redirectUris: values['redirect-uri'].map(redirectUri),
      native: values.native,
      ...(values.owner !== undefined && { owner: userId(values.owner) }),
      plan: choice('--plan', values.plan, PLANS),
      capCents: capCents(values['cap-cents']),
    };
    return async ({ em }) => {
      const { appId, key } = await createApp(em, app);
      return fieldsOutcome({ app_id: appId, key }, 'The key is shown only this once.');
    };
  },
});

export const appList = command({
  summary: 'List the apps, with the calls that failed in this hour and the one before',
  read:
    () =>
    async ({ em, database }) => {
      const refusalCounts = await refusalsByApp(database.pool);
      const data = (await listApps(em)).map((app) => ({
        ...presentApp(app),
        refused_lately: refusalCounts.get(app.id) ?? 0,
      }));
      const columns = ['app_id', 'name', 'plan', 'monthly_cap_cents', 'active', 'refused_lately'] as const;
      return { data, text: table(data, columns) };
    },
});

export const appShow = command({
  summary: 'Show an app: its keys, what it used and is using, and why it was refused',
  synopsis: 'APP_ID',
  example: EXAMPLE_ID,
  operand: appId,
  read: (_, id) => (admin) => showApp(admin, id),
});

export const appUpdate = command({
  summary: 'Change an app; each ingress follows within a second',
  synopsis:
    'APP_ID [--name N] [--plan sandbox|paid] [--cap-cents N|none] [--redirect-uri U]… [--native|--no-native] [--min-confidence X]' +
    ' [--supersede|--no-supersede] [--on-disconnect continue|cancel] [--enable F]… [--disable F]…' +
    ' [--active|--inactive]',
  example: `${EXAMPLE_ID} --plan paid`,
  options: {
    name: { type: 'string' },
    plan: { type: 'string' },
    'cap-cents': { type: 'string' },
    'redirect-uri': { type: 'string', multiple: true },
    'min-confidence': { type: 'string' },
    native: { type: 'boolean' },
    supersede: { type: 'boolean' },
    'on-disconnect': { type: 'string' },
    enable: { type: 'string', multiple: true },
    disable: { type: 'string', multiple: true },
    active: { type: 'boolean' },
    inactive: { type: 'boolean' },
  },
  operand: appId,
  read(values, id) {
    if (values.active && values.inactive) throw new AdminError('give --active or --inactive, not both');
    const change: AppChange = {
      name: mapGiven(values.name, appName),
      plan: mapGiven(values.plan, (plan) => choice('--plan', plan, PLANS)),
      capCents: mapGiven(values['cap-cents'], capCents),
      redirectUris: values['redirect-uri']?.map(redirectUri),
      minConfidence: mapGiven(values['min-confidence'], confidence),
      native: values.native,
      supersede: values.supersede,
      onDisconnect: mapGiven(values['on-disconnect'], (what) =>
        choice('--on-disconnect', what, ['continue', 'cancel']),
      ),
      enable: values.enable?.map((name) => choice('--enable', name, FEATURES)),
      disable: values.disable?.map((name) => choice('--disable', name, FEATURES)),
      active: values.active ?? mapGiven(values.inactive, (inactive) => !inactive),
    };
    const nameInBoth = change.enable?.find((name) => change.disable?.includes(name));
    if (nameInBoth !== undefined)
      throw new AdminError(`give --enable ${nameInBoth} or --disable ${nameInBoth}, not both`);
    if (Object.values(change).every((value) => value === undefined))
      throw usageError('there is nothing to change', appUpdate.synopsis);
    return (admin) => update(admin, id, change);
  },
});

export const appDeactivate = command({
  summary: 'Stop an app: its keys are refused within two seconds',
  synopsis: 'APP_ID',
  example: EXAMPLE_ID,
  operand: appId,
  read: (_, id) => (admin) => update(admin, id, { active: false }),
});

async function update(admin: Admin, id: string, change: AppChange): Promise<Outcome> {
  if ((await updateApp(admin.em, id, change)) === undefined) throw unknownApp(id);
  return showApp(admin, id);
}

function mapGiven<T, R>(value: T | undefined, read: (value: T) => R): R | undefined {
  return value === undefined ? undefined : read(value);
}

async function showApp({ em, database, config }: Admin, id: string): Promise<Outcome> {
  const { pool } = database;
  const report = await readAppReport({ pool, em, sandboxUnits: config.sandboxUnits }, id);
  if (report === undefined) throw unknownApp(id);
  const { keys, used: usage, days, refused, ...fields } = report;
  const used = presentUsage(usage);
  const using = presentLoad(await readPartyLoad(pool, APP_KINDS, id));
  const text = [
    fieldLines(fields),
    table(keys, ['prefix', 'created_at', 'expires_at']),
    `Used in ${usage.month}:\n${fieldLines(used)}`,
    ...(days.length === 0 ? [] : [`Used by day:\n${table(days, ['date', 'prediction_units'])}`]),
    `Using now:\n${fieldLines(using)}`,
    refused.length === 0
      ? 'Refused in the last 24 hours: nothing'
      : `Refused in the last 24 hours:\n${table(refused, ['code', 'calls', 'last_at', 'means'])}`,
  ].join('\n\n');
  return { data: { ...fields, keys, used: { month: usage.month, ...used }, days, using, refused }, text };
}

function presentUsage({ prediction_units, reserved_units, invoice_cents, sandbox_remaining }: UsageResponse) {
  return { prediction_units, reserved_units, invoice_cents, sandbox_remaining };
}

function presentLoad({ queued, running, oldestS }: PartyLoad) {
  return { queued, running, oldest_queued_s: oldestS };
}
