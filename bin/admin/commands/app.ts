import { type AppChange, createApp, listApps, updateApp } from '../../../shared/db/stores/apps.ts';
import { FEATURES } from '../../../shared/domain/app.ts';
import { PLANS } from '../../../shared/schemas/limits.ts';
import { AdminError } from '../admin-error.ts';
import {
  appId,
  appName,
  capCents,
  choice,
  confidence,
  redirectUri,
  required,
  unknownApp,
} from '../arguments.ts';
import { type Admin, command, misused, type Outcome } from '../command.ts';
import { presentApp, showApp } from '../show-app.ts';
import { lines, table } from '../text.ts';

export const appCreate = command({
  synopsis: '--name N [--redirect-uri U]… [--plan sandbox|paid] [--cap-cents N]',
  options: {
    name: { type: 'string' },
    'redirect-uri': { type: 'string', multiple: true, default: [] },
    plan: { type: 'string', default: 'sandbox' },
    'cap-cents': { type: 'string', default: 'none' },
  },
  operands: 0,
  read(values) {
    const app = {
      name: appName(required('--name', values.name)),
      redirectUris: values['redirect-uri'].map(redirectUri),
      plan: choice('--plan', values.plan, PLANS),
      capCents: capCents(values['cap-cents']),
    };
    return async ({ em }) => {
      const { appId, key } = await createApp(em, app);
      const data = { app_id: appId, key };
      return { data, text: `${lines(data)}\n\nThe key is shown only this once.` };
    };
  },
});

export const appList = command({
  synopsis: '',
  options: {},
  operands: 0,
  read:
    () =>
    async ({ em }) => {
      const data = (await listApps(em)).map(presentApp);
      const columns = ['app_id', 'name', 'plan', 'monthly_cap_cents', 'active', 'created_at'] as const;
      return { data, text: table(data, columns) };
    },
});

export const appShow = command({
  synopsis: 'APP_ID',
  options: {},
  operands: 1,
  read(_, operand) {
    const id = appId(operand);
    return (admin) => showApp(admin, id);
  },
});

export const appUpdate = command({
  synopsis:
    'APP_ID [--name N] [--plan sandbox|paid] [--cap-cents N|none] [--redirect-uri U]… [--min-confidence X]' +
    ' [--supersede|--no-supersede] [--on-disconnect continue|cancel] [--enable F]… [--disable F]…' +
    ' [--active|--inactive]',
  options: {
    name: { type: 'string' },
    plan: { type: 'string' },
    'cap-cents': { type: 'string' },
    'redirect-uri': { type: 'string', multiple: true },
    'min-confidence': { type: 'string' },
    supersede: { type: 'boolean' },
    'on-disconnect': { type: 'string' },
    enable: { type: 'string', multiple: true },
    disable: { type: 'string', multiple: true },
    active: { type: 'boolean' },
    inactive: { type: 'boolean' },
  },
  operands: 1,
  read(values, operand) {
    const id = appId(operand);
    if (values.active && values.inactive) throw new AdminError('give --active or --inactive, not both');
    const change: AppChange = {
      name: given(values.name, appName),
      plan: given(values.plan, (plan) => choice('--plan', plan, PLANS)),
      capCents: given(values['cap-cents'], capCents),
      redirectUris: values['redirect-uri']?.map(redirectUri),
      minConfidence: given(values['min-confidence'], confidence),
      supersede: values.supersede,
      onDisconnect: given(values['on-disconnect'], (what) =>
        choice('--on-disconnect', what, ['continue', 'cancel']),
      ),
      enable: values.enable?.map((name) => choice('--enable', name, FEATURES)),
      disable: values.disable?.map((name) => choice('--disable', name, FEATURES)),
      active: values.active ?? given(values.inactive, (inactive) => !inactive),
    };
    const both = change.enable?.find((name) => change.disable?.includes(name));
    if (both !== undefined) throw new AdminError(`give --enable ${both} or --disable ${both}, not both`);
    if (Object.values(change).every((value) => value === undefined))
      throw misused('there is nothing to change', appUpdate.synopsis);
    return (admin) => update(admin, id, change);
  },
});

export const appDeactivate = command({
  synopsis: 'APP_ID',
  options: {},
  operands: 1,
  read(_, operand) {
    const id = appId(operand);
    return (admin) => update(admin, id, { active: false });
  },
});

async function update(admin: Admin, id: string, change: AppChange): Promise<Outcome> {
  if ((await updateApp(admin.em, id, change)) === undefined) throw unknownApp(id);
  return showApp(admin, id);
}

function given<T, R>(value: T | undefined, read: (value: T) => R): R | undefined {
  return value === undefined ? undefined : read(value);
}
