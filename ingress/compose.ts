import type Koa from 'koa';
import type { IngressConfig } from '../shared/config/config.ts';
import { readSandboxKey } from '../shared/config/development.ts';
import { assembleContext } from '../shared/db/stores/memory/context.ts';
import { recordEvent } from '../shared/db/stores/prediction-events.ts';
import { findJobs, isErased } from '../shared/db/stores/work/find.ts';
import { apiResource } from '../shared/domain/resource.ts';
import type { Log } from '../shared/log.ts';
import { checkAddress } from '../shared/net/check-address.ts';
import type { RunningProcess } from '../shared/process/lifecycle.ts';
import { kinds } from '../shared/work/kinds.ts';
import { EmailChanges } from './accounts/email-changes.ts';
import { accountEraser } from './accounts/erase.ts';
import { Passkeys } from './accounts/passkeys.ts';
import { ResetLinks } from './accounts/reset-links.ts';
import { AccountService } from './accounts/service.ts';
import { openWaitlist } from './accounts/waitlist.ts';
import { AccessTokens } from './auth/access-tokens.ts';
import { openCredentials } from './auth/credentials.ts';
import { GrantTokens } from './auth/grant-tokens.ts';
import { SignedTokens } from './auth/signed-tokens.ts';
import { connectionChanges } from './connect/connection-changes.ts';
import { ConnectionQuestions } from './connect/connection-questions.ts';
import { ConnectionService } from './connect/connections.ts';
import { ConsentPages, connectPageMiddleware, showCallback } from './connect/consent.ts';
import { EmailPages } from './connect/emails.ts';
import { PasswordPages } from './connect/passwords.ts';
import { consoleFiles } from './console/files.ts';
import { RefreshCookie } from './console/refresh-cookie.ts';
import { accountTurns } from './guards/account-turns.ts';
import { isEndpoint } from './http/endpoint.ts';
import { createKoa } from './http/koa.ts';
import { JobService } from './jobs/service.ts';
import { CredentialThrottle } from './limits/credential-throttle.ts';
import { requestLimits } from './limits/request-limits.ts';
import { OauthClients } from './oauth/clients.ts';
import { OauthEndpoints } from './oauth/endpoints.ts';
import { oauthMiddleware } from './oauth/errors.ts';
import { ProgramQuestions } from './oauth/questions.ts';
import { RefreshTokens } from './oauth/refresh-tokens.ts';
import { type OpenedParts, openParts } from './open.ts';
import { publishedFiles } from './openapi/published-files.ts';
import { frontPage } from './pages/front.ts';
import { packedClient } from './pages/packed-client.ts';
import { draftPredictor } from './predictions/drafts.ts';
import { PredictionService } from './predictions/service.ts';
import { RecordingService } from './recording/service.ts';
import { batchView } from './replies/batch.ts';
import { ReplyService } from './replies/service.ts';
import { routes } from './routes/index.ts';
import type { Parts } from './routes/parts.ts';
import { ANSWER_GRACE_MS } from './work/service.ts';

/** Starts an ingress. A start that fails closes what it has opened, and a stop closes everything in reverse order. */
export async function startIngress(config: IngressConfig, log: Log): Promise<RunningProcess> {
  await using opening = new AsyncDisposableStack();
  const parts = await openParts(opening, config, log);
  parts.server.serve(composeKoa(config, parts, log).callback());
  parts.health.serving = true;
  const opened = opening.move();
  return { url: parts.server.url, operatorUrl: parts.operator.url, stop: () => opened.disposeAsync() };
}

/** Maximum shares of the database connections. Requests that count many rows use the share for changes. */
const CONTEXT_CONNECTION_SHARE = 1 / 5;
const SEARCH_CONNECTION_SHARE = 1 / 5;
const CHANGE_CONNECTION_SHARE = 1 / 2;

/** Leaves out what the operator has turned off. */
function routesOf(config: Pick<IngressConfig, 'console' | 'apps'>) {
  const hidden = [...(config.console ? [] : ['/console']), ...(config.apps === 'off' ? ['/api/apps/'] : [])];
  return routes.filter(({ path }) => !hidden.some((start) => path.startsWith(start)));
}

/** Deleted apps and ended keys leave rows behind. */
const APPS_A_DAY = 20;
const KEYS_A_DAY = 100;
const DAY_S = 24 * 60 * 60;

function appMaking({ apps }: Pick<IngressConfig, 'apps'>, limits: OpenedParts['limits']): Parts['apps'] {
  return {
    areOpen: apps === 'open',
    creations: limits.open({ name: 'new-apps', points: APPS_A_DAY, windowS: DAY_S }),
    rotations: limits.open({ name: 'new-app-keys', points: KEYS_A_DAY, windowS: DAY_S }),
  };
}

type Mailing = ConstructorParameters<typeof ResetLinks>[0];
type CommonParts = ConstructorParameters<typeof ConsentPages>[0];

/** What mails a link, and the pages to which the links lead. */
function mailedLinks(mailing: Mailing, common: CommonParts) {
  const emailChanges = new EmailChanges({ ...mailing, accounts: common.accounts });
  return {
    passkeys: new Passkeys(mailing),
    emailChanges,
    emails: new EmailPages({ ...common, emailChanges }),
    passwords: new PasswordPages({ ...common, resetLinks: new ResetLinks(mailing) }),
  };
}

function jobService({ sendTimeoutMs }: IngressConfig, { pool, em, work }: OpenedParts, log: Log): JobService {
  return new JobService({
    work: work.service,
    find: (named, kinds, withinMs) => findJobs(pool, named, kinds, withinMs),
    isErased: (accountId) => isErased(pool, accountId),
    views: { predict_batch: batchView(em) },
    sendTimeoutMs,
    log,
  });
}

function composeKoa(config: IngressConfig, open: OpenedParts, log: Log): Koa {
  const { pool, em, uploads, limits, refusals, accesses, work, feeds, health, rest, mailer, publicUrl } =
    open;
  const signed = new SignedTokens(publicUrl, config.signingKeys);
  const places = { publicUrl, mcpUrl: config.mcpUrl };
  const tokens = { logIns: new AccessTokens(signed), grants: new GrantTokens(signed, places) };
  const countRequest = requestLimits(config.rateLimit, limits);
  const { announceChanged } = work.wakeUps;
  const changes = connectionChanges(em, { ...work.endingOptions, announceChanged }, log);
  const takeTurn = accountTurns(config.database.poolSize, CHANGE_CONNECTION_SHARE);
  const mailing = { em, limits, mailer, publicUrl };
  const accounts = new AccountService(config, { ...mailing, takeTurn, tokens: tokens.logIns, log });
  const noteReads: Parts['noteReads'] = ({ id, keyId }, reads) =>
    accesses.add({ accountId: id, reader: keyId ? 'key' : 'log_in', readerId: keyId ?? id }, reads);
  const servedRoutes = routesOf(config);
  // Settings and services that many parts share.
  const common = { ...config, em, accounts, takeTurn, health, publicUrl };
  const clients = new OauthClients(signed, config);
  const throttle = new CredentialThrottle(config.rateLimit && limits);
  const credentials = openCredentials({ pool, em }, tokens, throttle, log);
  const parts: Parts = {
    em,
    pool,
    apps: appMaking(config, limits),
    checkAddress: (url) => checkAddress(url, config.allowPrivateAddresses),
    accounts,
    changes: feeds,
    authenticate: credentials.user,
    joinWaitlist: openWaitlist({ em, limits }),
    connections: new ConnectionService({ ...common, changes }),
    revokeConnection: changes.revokeConnection,
    eraseAccount: accountEraser(em, work.endingOptions, log),
    predictions: new PredictionService(work.service, config.contextEnvelopeChars),
    predictDraft: draftPredictor(work.service, config.contextEnvelopeChars),
    recordEvent: (appId, event, retained) => recordEvent(pool, appId, event, retained),
    noteReads,
    sandboxUnits: config.sandboxUnits,
    tokenQuotas: config.tokenQuotas,
    assembleContext: (accountId, query, reading) => assembleContext(em(), accountId, query, reading),
    takeContextTurn: accountTurns(config.database.poolSize, CONTEXT_CONNECTION_SHARE),
    takeSearchTurn: accountTurns(config.database.poolSize, SEARCH_CONNECTION_SHARE),
    jobs: jobService(config, open, log),
    publicUrl,
    supportedModels: config.supportedModels,
    replies: new ReplyService({ ...common, work: work.service }),
    recording: new RecordingService({ em, recordBatch: uploads.recordBatch }),
    health,
    showFront: frontPage(common),
    consent: new ConsentPages(common, new ConnectionQuestions(common)),
    programs: new ConsentPages(common, new ProgramQuestions({ ...common, clients })),
    oauth: new OauthEndpoints({
      ...common,
      clients,
      grantTokens: tokens.grants,
      refreshTokens: new RefreshTokens(config.signingKeys),
    }),
    resources: { api: apiResource(places), toolServer: config.mcpUrl },
    showCallback: (ctx) => showCallback(ctx, common),
    ...mailedLinks(mailing, common),
    refreshCookie: new RefreshCookie(publicUrl),
    sendFile: publishedFiles(servedRoutes.filter(isEndpoint), config.publicUrl, async () =>
      config.production ? null : readSandboxKey(),
    ),
    sendConsole: consoleFiles(log),
    sendClient: packedClient(),
  };
  return createKoa({
    ...config,
    publicUrl,
    routes: servedRoutes,
    parts,
    surfaces: { connect: connectPageMiddleware, oauth: oauthMiddleware },
    credentials,
    countRequest,
    takeTurn,
    announceChanged,
    noteReads,
    checksTimeoutMs:
      Math.min(...Object.values(kinds).map(({ deadline }) => config[deadline])) + ANSWER_GRACE_MS,
    refusals,
    log,
    isShuttingDown: () => !health.serving,
    noteChange: () => rest.note(),
  });
}
