import { presentApp, readAppReport } from '../../../shared/db/stores/app-report.ts';
import {
  changeOwnApp,
  createOwnApp,
  deleteOwnApp,
  findOwnApp,
  listOwnApps,
  rotateOwnKey,
} from '../../../shared/db/stores/own-apps.ts';
import { AppError } from '../../../shared/errors/app-error.ts';
import {
  AppChange,
  AppDetail,
  AppKeyRequest,
  AppList,
  AppRequest,
  AppResponse,
  NewAppKeyResponse,
  NewAppResponse,
} from '../../../shared/schemas/apps.ts';
import { APPS_MAX } from '../../../shared/schemas/limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { takeOrRefuse } from '../../limits/limiter.ts';
import type { Parts } from '../parts.ts';

const changing = { tag: 'Apps', scopes: [], inTurn: 'account', changes: 'apps' } as const;

export const listApps = endpoint('user', {
  operationId: 'listApps',
  tag: 'Apps',
  summary: 'The apps of the account, the newest first',
  response: AppList,
}).handle(async ({ user }, { em, apps }: Parts) => {
  const own = await listOwnApps(em(), user.id);
  const may_create = own.length < APPS_MAX && (apps.areOpen || own.length > 0);
  return { body: { results: own.map(presentApp), may_create } };
});

export const createApp = endpoint('user', {
  ...changing,
  operationId: 'createApp',
  summary: 'Make an app',
  description:
    'The only answer that has its first key. The app is on the sandbox plan; an operator sets another plan and its cap.',
  body: AppRequest,
  errors: ['quota_exceeded', 'access_denied'],
  status: 201,
  response: NewAppResponse,
}).handle(async ({ user, body }, { em, apps }: Parts) => {
  if (!apps.areOpen && (await listOwnApps(em(), user.id)).length === 0)
    throw new AppError('access_denied', { explanation: 'An operator gives an account its first app.' });
  await takeOrRefuse(apps.creations, user.id);
  const { name, redirect_uris: redirectUris = [], native = false } = body;
  const { app, key } = await createOwnApp(em(), user.id, { name, redirectUris, native });
  return { body: { ...presentApp(app), key } };
});

export const readApp = endpoint('user', {
  operationId: 'readApp',
  tag: 'Apps',
  summary: 'An app: its keys, what it used, why it was refused, and how many people are connected',
  inTurn: 'memory',
  params: { app_id: 'uuid' },
  response: AppDetail,
}).handle(async ({ user, params }, { em, pool, sandboxUnits }: Parts) => {
  await findOwnApp(em(), user.id, params.app_id);
  const report = await readAppReport({ pool, em: em(), sandboxUnits }, params.app_id);
  if (report === undefined) throw new AppError('not_found');
  return { body: report };
});

export const changeApp = endpoint('user', {
  ...changing,
  operationId: 'changeApp',
  summary: 'Change an app; each ingress follows within a second',
  description: 'A cap above the present one is 422: only an operator raises it.',
  params: { app_id: 'uuid' },
  body: AppChange,
  response: AppResponse,
}).handle(async ({ user, params, body }, { em }: Parts) => ({
  body: presentApp(await changeOwnApp(em(), user.id, params.app_id, body)),
}));

export const deleteApp = endpoint('user', {
  ...changing,
  operationId: 'deleteApp',
  summary: 'End an app for good: its keys are refused within two seconds',
  params: { app_id: 'uuid' },
  status: 204,
}).handle(async ({ user, params }, { em }: Parts) => {
  await deleteOwnApp(em(), user.id, params.app_id);
});

export const rotateAppKey = endpoint('user', {
  ...changing,
  operationId: 'rotateAppKey',
  summary: 'Issue a new key for an app, and end its older ones after `grace_s`',
  params: { app_id: 'uuid' },
  body: AppKeyRequest,
  status: 201,
  response: NewAppKeyResponse,
}).handle(async ({ user, params, body }, { em, apps }: Parts) => {
  await takeOrRefuse(apps.rotations, user.id);
  return { body: { key: await rotateOwnKey(em(), user.id, params.app_id, body.grace_s) } };
});
