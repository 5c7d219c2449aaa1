import {
  type Endpoint,
  endpointsOn,
  isEndpoint,
  type PageContext,
  pagesOn,
  type Route,
} from '../http/endpoint.ts';
import { sendFavicon } from '../pages/front.ts';
import * as accesses from './api/accesses.ts';
import * as activity from './api/activity.ts';
import * as apps from './api/apps.ts';
import * as auth from './api/auth.ts';
import * as changes from './api/changes.ts';
import * as ownConnections from './api/connections.ts';
import * as decisions from './api/decisions.ts';
import * as drafts from './api/drafts.ts';
import * as email from './api/email.ts';
import * as grants from './api/grants.ts';
import * as jobs from './api/jobs.ts';
import * as keys from './api/keys.ts';
import * as logIns from './api/log-ins.ts';
import * as me from './api/me.ts';
import * as context from './api/memory/context.ts';
import * as episodes from './api/memory/episodes.ts';
import * as facts from './api/memory/facts.ts';
import * as forget from './api/memory/forget.ts';
import * as profile from './api/memory/profile.ts';
import * as raw from './api/memory/raw.ts';
import * as passkeys from './api/passkeys.ts';
import * as permissions from './api/permissions.ts';
import * as recording from './api/recording.ts';
import * as replies from './api/replies.ts';
import * as webhooks from './api/webhooks.ts';
import * as consoleAuth from './console.ts';
import { checkHealth, checkReadiness } from './health.ts';
import type { Parts } from './parts.ts';
import * as connections from './v1/connections.ts';
import * as predictions from './v1/predictions.ts';
import * as usage from './v1/usage.ts';

const v1 = endpointsOn('v1');
const api = endpointsOn('api');
const site = endpointsOn('site');
const connect = pagesOn('connect');
const oauth = pagesOn('oauth');
const page = pagesOn('site');

type SendPart = (ctx: PageContext, parts: Parts) => Promise<void>;
const sendConsole: SendPart = (ctx, parts) => parts.sendConsole(ctx);
const sendFile: SendPart = (ctx, parts) => parts.sendFile(ctx);
const filesOf = (send: SendPart, paths: `/${string}`[]) =>
  paths.map((path) => page('GET', path, 'none', send));

/** All routes of the public port: method, path, credential and handler. */
export const routes: readonly Route<Parts>[] = [
  v1('POST', '/v1/connections', 'app', connections.startConnection),
  v1('POST', '/v1/connections/exchange', 'app', connections.exchangeConnection),
  v1('POST', '/v1/connections/:connection_id/revoke', 'app', connections.revokeConnection),
  v1('POST', '/v1/predictions', 'app', predictions.predict),
  v1('POST', '/v1/predictions/:request_id/cancel', 'app', predictions.cancelPrediction),
  v1('POST', '/v1/prediction-events', 'app', predictions.recordPredictionEvent),
  v1('GET', '/v1/usage', 'app', usage.readUsage),

  api('POST', '/api/auth/signup/', 'none', auth.signUp),
  api('POST', '/api/auth/login/', 'none', auth.logIn),
  api('POST', '/api/auth/logout/', 'user', auth.logOut),
  api('POST', '/api/auth/token/refresh/', 'none', auth.refreshToken),
  api('POST', '/api/auth/invite/validate/', 'none', auth.validateInvite),
  api('POST', '/api/auth/waitlist/', 'none', auth.joinWaitlist),
  api('GET', '/api/auth/me/', 'user', me.readAccount),
  api('PATCH', '/api/auth/me/', 'user', me.changeAccount),
  api('DELETE', '/api/auth/me/', 'user', me.eraseAccount),
  api('GET', '/api/export/', 'user', me.exportAccountLines),
  api('POST', '/api/auth/email/', 'user', email.changeEmail),
  api('GET', '/api/auth/log-ins/', 'user', logIns.listOwnLogIns),
  api('DELETE', '/api/auth/log-ins/', 'user', logIns.endAllOtherLogIns),
  api('DELETE', '/api/auth/log-ins/:id/', 'user', logIns.endOneLogIn),
  api('GET', '/api/auth/passkeys/', 'user', passkeys.listOwnPasskeys),
  api('POST', '/api/auth/passkeys/', 'user', passkeys.addPasskey),
  api('POST', '/api/auth/passkeys/options/', 'user', passkeys.startPasskey),
  api('PATCH', '/api/auth/passkeys/:id/', 'user', passkeys.renameOwnPasskey),
  api('DELETE', '/api/auth/passkeys/:id/', 'user', passkeys.removeOwnPasskey),
  api('GET', '/api/auth/keys/', 'user', keys.listKeys),
  api('POST', '/api/auth/keys/', 'user', keys.issueKey),
  api('GET', '/api/auth/keys/:key_id/', 'user', keys.readKey),
  api('DELETE', '/api/auth/keys/:key_id/', 'user', keys.revokeKey),
  api('GET', '/api/auth/grants/', 'user', grants.listOwnGrants),
  api('PATCH', '/api/auth/grants/:id/', 'user', grants.narrowOwnGrant),
  api('DELETE', '/api/auth/grants/:id/', 'user', grants.revokeOwnGrant),
  api('GET', '/api/apps/', 'user', apps.listApps),
  api('POST', '/api/apps/', 'user', apps.createApp),
  api('GET', '/api/apps/:app_id/', 'user', apps.readApp),
  api('PATCH', '/api/apps/:app_id/', 'user', apps.changeApp),
  api('DELETE', '/api/apps/:app_id/', 'user', apps.deleteApp),
  api('POST', '/api/apps/:app_id/keys/', 'user', apps.rotateAppKey),
  api('GET', '/api/changes/', 'user', changes.readChanges),
  api('GET', '/api/webhooks/', 'user', webhooks.listWebhooks),
  api('POST', '/api/webhooks/', 'user', webhooks.createWebhook),
  api('GET', '/api/webhooks/:webhook_id/', 'user', webhooks.readWebhook),
  api('PATCH', '/api/webhooks/:webhook_id/', 'user', webhooks.changeWebhook),
  api('DELETE', '/api/webhooks/:webhook_id/', 'user', webhooks.removeWebhook),
  api('POST', '/api/webhooks/:webhook_id/secret/', 'user', webhooks.rotateSecret),
  api('GET', '/api/webhooks/:webhook_id/deliveries/', 'user', webhooks.listWebhookDeliveries),
  api('POST', '/api/webhooks/:webhook_id/replay/', 'user', webhooks.replayWebhookDeliveries),
  api('GET', '/api/connections/', 'user', ownConnections.listOwnConnections),
  api('GET', '/api/connections/:id/', 'user', ownConnections.readOwnConnection),
  api('PATCH', '/api/connections/:id/', 'user', ownConnections.changeOwnConnection),
  api('DELETE', '/api/connections/:id/', 'user', ownConnections.revokeOwnConnection),
  api('POST', '/api/recording/events/', 'user', recording.recordEvents),
  api('GET', '/api/recording/events/:id/', 'user', recording.readEvent),
  api('GET', '/api/recording/sessions/', 'user', recording.listSessions),
  api('GET', '/api/recording/sessions/:id/events/', 'user', recording.listSessionEvents),
  api('GET', '/api/memory/raw/', 'user', raw.listRawMemory),
  api('POST', '/api/memory/raw/', 'user', raw.addRawMemory),
  api('GET', '/api/memory/raw/:id/', 'user', raw.readRawMemory),
  api('DELETE', '/api/memory/raw/:id/', 'user', raw.deleteRawMemory),
  api('GET', '/api/memory/episodes/', 'user', episodes.listMemoryEpisodes),
  api('POST', '/api/memory/episodes/', 'user', episodes.addMemoryEpisodes),
  api('GET', '/api/memory/episodes/:id/', 'user', episodes.readMemoryEpisode),
  api('PATCH', '/api/memory/episodes/:id/', 'user', episodes.changeMemoryEpisode),
  api('DELETE', '/api/memory/episodes/:id/', 'user', episodes.deleteMemoryEpisode),
  api('GET', '/api/memory/facts/', 'user', facts.listMemoryFacts),
  api('POST', '/api/memory/facts/', 'user', facts.addMemoryFacts),
  api('GET', '/api/memory/facts/:id/', 'user', facts.readMemoryFact),
  api('PATCH', '/api/memory/facts/:id/', 'user', facts.changeMemoryFact),
  api('DELETE', '/api/memory/facts/:id/', 'user', facts.deleteMemoryFact),
  api('GET', '/api/memory/profile/', 'user', profile.readMemoryProfile),
  api('POST', '/api/memory/profile/', 'user', profile.writeMemoryProfile),
  api('DELETE', '/api/memory/profile/', 'user', profile.deleteMemoryProfile),
  api('POST', '/api/memory/forget/', 'user', forget.forgetMemory),
  api('POST', '/api/memory/context/', 'user', context.assembleMemoryContext),
  api('GET', '/api/memory/stats/', 'user', context.readMemoryStats),
  api('POST', '/api/memory/sync/', 'user', jobs.syncMemory),
  api('POST', '/api/memory/promote/episodes/', 'user', jobs.promoteToEpisodes),
  api('POST', '/api/memory/promote/facts/', 'user', jobs.promoteToFacts),
  api('POST', '/api/predictions/predict/', 'user', replies.predictReply),
  api('POST', '/api/predictions/predict/batch/', 'user', replies.predictReplies),
  api('POST', '/api/predictions/draft/', 'user', drafts.predictDraft),
  api('POST', '/api/predictions/permission/', 'user', permissions.predictPermission),
  api('GET', '/api/predictions/', 'user', replies.listPredictedReplies),
  api('GET', '/api/predictions/stats/', 'user', replies.readReplyStats),
  api('GET', '/api/predictions/calibration/', 'user', replies.readReplyCalibration),
  api('GET', '/api/predictions/:id/', 'user', replies.readReply),
  api('POST', '/api/predictions/:id/feedback/', 'user', replies.giveFeedback),
  api('GET', '/api/decisions/', 'user', decisions.listAutomaticDecisions),
  api('GET', '/api/decisions/settings/', 'user', decisions.readAutomation),
  api('PATCH', '/api/decisions/settings/', 'user', decisions.changeAutomation),
  api('POST', '/api/decisions/:id/object/', 'user', decisions.objectToDecision),
  api('GET', '/api/accesses/', 'user', accesses.listOwnAccesses),
  api('GET', '/api/activity/', 'user', activity.readActivity),
  api('GET', '/api/jobs/:job_id/', 'user', jobs.readJob),
  api('DELETE', '/api/jobs/:job_id/', 'user', jobs.cancelJob),

  page('GET', '/', 'none', (ctx, { showFront }) => showFront(ctx)),
  page('GET', '/favicon.svg', 'none', sendFavicon),
  page('GET', '/favicon.ico', 'none', sendFavicon),

  site('GET', '/healthz', 'none', checkHealth),
  site('GET', '/readyz', 'none', checkReadiness),

  site('POST', '/console/auth/signup/', 'none', consoleAuth.signUpToConsole),
  site('POST', '/console/auth/login/', 'none', consoleAuth.logInToConsole),
  site('POST', '/console/auth/passkeys/options/', 'none', consoleAuth.startPasskeyLogIn),
  site('POST', '/console/auth/passkeys/login/', 'none', consoleAuth.logInWithPasskey),
  site('POST', '/console/auth/token/refresh/', 'none', consoleAuth.refreshConsole),
  site('POST', '/console/auth/logout/', 'user', consoleAuth.logOutOfConsole),
  ...filesOf(sendConsole, ['/console', '/console/', '/console/:file']),

  connect('GET', '/connect/callback', 'none', (ctx, { showCallback }) => showCallback(ctx)),
  connect('GET', '/connect/authorize', 'browser', (ctx, { programs }) => programs.show(ctx)),
  connect('POST', '/connect/authorize', 'browser', (ctx, { programs }) => programs.act(ctx)),
  connect('GET', '/connect/forgotten-password', 'browser', (ctx, { passwords }) =>
    passwords.showForgotten(ctx),
  ),
  connect('POST', '/connect/forgotten-password', 'browser', (ctx, { passwords }) => passwords.ask(ctx)),
  connect('GET', '/connect/new-password', 'browser', (ctx, { passwords }) => passwords.showNew(ctx)),
  connect('POST', '/connect/new-password', 'browser', (ctx, { passwords }) => passwords.save(ctx)),
  connect('GET', '/connect/new-email', 'browser', (ctx, { emails }) => emails.show(ctx)),
  connect('POST', '/connect/new-email', 'browser', (ctx, { emails }) => emails.confirm(ctx)),
  connect('GET', '/connect/:request_id', 'browser', (ctx, { consent }) => consent.show(ctx)),
  connect('POST', '/connect/:request_id', 'browser', (ctx, { consent }) => consent.act(ctx)),

  oauth('GET', '/.well-known/oauth-authorization-server', 'none', (ctx, parts) =>
    parts.oauth.describeServer(ctx),
  ),
  oauth('GET', '/.well-known/oauth-protected-resource', 'none', (ctx, parts) =>
    parts.oauth.describeResource(ctx, parts.resources.api),
  ),
  oauth('GET', '/.well-known/oauth-protected-resource/api', 'none', (ctx, parts) =>
    parts.oauth.describeResource(ctx, parts.resources.api),
  ),
  oauth('GET', '/.well-known/oauth-protected-resource/mcp', 'none', (ctx, parts) =>
    parts.oauth.describeResource(ctx, parts.resources.toolServer),
  ),
  oauth('POST', '/oauth/register', 'none', (ctx, parts) => parts.oauth.register(ctx)),
  oauth('POST', '/oauth/token', 'none', (ctx, parts) => parts.oauth.issueTokens(ctx)),
  oauth('POST', '/oauth/revoke', 'none', (ctx, parts) => parts.oauth.revoke(ctx)),

  ...filesOf(sendFile, ['/openapi.json', '/docs', '/docs/', '/docs/init.js']),
  ...filesOf(sendFile, [
    '/docs/swagger-ui-bundle.js',
    '/docs/swagger-ui.css',
    '/docs/docs.css',
    '/docs/sandbox-key',
  ]),
  page('GET', '/client/:file', 'none', (ctx, { sendClient }) => sendClient(ctx)),
];

/** The routes that the OpenAPI document describes; the others serve pages and files. */
export const endpoints: readonly Endpoint<Parts>[] = routes.filter(isEndpoint);
