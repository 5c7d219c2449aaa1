import type { EntityManager } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import type { TokenQuotas } from '../../shared/config/quotas.ts';
import type { Reads } from '../../shared/db/access-log.ts';
import type { ContextReadLimits } from '../../shared/db/stores/memory/context.ts';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { ContextBundle } from '../../shared/domain/context-bundle.ts';
import type { ContextQuery } from '../../shared/domain/context-rows.ts';
import type { Health } from '../../shared/process/operator-port.ts';
import type { PredictionEventRequest } from '../../shared/schemas/predictions.ts';
import type { EmailChanges } from '../accounts/email-changes.ts';
import type { Passkeys } from '../accounts/passkeys.ts';
import type { AccountService } from '../accounts/service.ts';
import type { JoinWaitlist } from '../accounts/waitlist.ts';
import type { Credentials } from '../auth/credentials.ts';
import type { ChangeFeeds } from '../changes/feeds.ts';
import type { ConnectionChanges } from '../connect/connection-changes.ts';
import type { ConnectionService } from '../connect/connections.ts';
import type { ConsentPages } from '../connect/consent.ts';
import type { EmailPages } from '../connect/emails.ts';
import type { PasswordPages } from '../connect/passwords.ts';
import type { RefreshCookie } from '../console/refresh-cookie.ts';
import type { TakeTurn } from '../guards/account-turns.ts';
import type { PageContext } from '../http/endpoint.ts';
import type { JobServices } from '../jobs/answer.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { OauthEndpoints } from '../oauth/endpoints.ts';
import type { SendFile } from '../pages/files.ts';
import type { frontPage } from '../pages/front.ts';
import type { PredictDraft } from '../predictions/drafts.ts';
import type { PredictionService } from '../predictions/service.ts';
import type { RecordingService } from '../recording/service.ts';
import type { ReplyService } from '../replies/service.ts';

/** Services that the handlers use. */
export interface Parts extends JobServices {
  em: () => EntityManager;
  pool: Pool;
  /** Whether everybody may make apps, and how many apps and keys an account may make in a day. */
  apps: { areOpen: boolean; creations: Limiter; rotations: Limiter };
  /** Throws a `ValidationError` for an address to which no webhook may lead. */
  checkAddress(url: string): void;
  accounts: AccountService;
  changes: ChangeFeeds;
  authenticate: Credentials['user'];
  joinWaitlist: JoinWaitlist;
  eraseAccount(user: UserPrincipal): Promise<void>;
  connections: ConnectionService;
  revokeConnection: ConnectionChanges['revokeConnection'];
  predictions: PredictionService;
  noteReads(user: UserPrincipal, reads: Reads): void;
  recordEvent(appId: string, event: PredictionEventRequest, retained: number | null): Promise<void>;
  predictDraft: PredictDraft;
  replies: ReplyService;
  supportedModels: readonly string[];
  recording: RecordingService;
  assembleContext(accountId: string, query: ContextQuery, reading: ContextReadLimits): Promise<ContextBundle>;
  takeContextTurn: TakeTurn;
  takeSearchTurn: TakeTurn;
  sandboxUnits: number;
  tokenQuotas: TokenQuotas;
  /** Liveness and readiness on the public port, for load balancers that reach no other port. */
  health: Health;
  showFront: ReturnType<typeof frontPage>;
  consent: ConsentPages;
  programs: ConsentPages;
  showCallback(ctx: PageContext): void;
  oauth: OauthEndpoints;
  /** Addresses of the protected resources; `toolServer` is undefined if only the tool server knows its own. */
  resources: { api: string; toolServer: string | undefined };
  passkeys: Passkeys;
  passwords: PasswordPages;
  emailChanges: EmailChanges;
  emails: EmailPages;
  refreshCookie: RefreshCookie;
  sendFile: SendFile;
  sendConsole: SendFile;
  sendClient: SendFile;
}
