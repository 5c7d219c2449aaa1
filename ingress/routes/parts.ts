import type { EntityManager } from '@mikro-orm/postgresql';
import type { TokenQuotas } from '../../shared/config/quotas.ts';
import type { ContextReadLimits } from '../../shared/db/stores/memory/context.ts';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { ContextBundle } from '../../shared/domain/context-bundle.ts';
import type { ContextQuery } from '../../shared/domain/context-rows.ts';
import type { Health } from '../../shared/process/operator-port.ts';
import type { PredictionEventRequest } from '../../shared/schemas/predictions.ts';
import type { AccountService } from '../accounts/service.ts';
import type { JoinWaitlist } from '../accounts/waitlist.ts';
import type { ConnectionChanges } from '../connect/connection-changes.ts';
import type { ConnectionService } from '../connect/connections.ts';
import type { ConsentPages } from '../connect/consent.ts';
import type { PasswordPages } from '../connect/passwords.ts';
import type { RefreshCookie } from '../console/refresh-cookie.ts';
import type { TakeTurn } from '../guards/account-turns.ts';
import type { JobServices } from '../jobs/answer.ts';
import type { SendFile } from '../pages/files.ts';
import type { frontPage } from '../pages/front.ts';
import type { PredictDraft } from '../predictions/drafts.ts';
import type { PredictionService } from '../predictions/service.ts';
import type { RecordingService } from '../recording/service.ts';
import type { ReplyService } from '../replies/service.ts';

/** Services that the handlers use. */
export interface Parts extends JobServices {
  em: () => EntityManager;
  accounts: AccountService;
  joinWaitlist: JoinWaitlist;
  eraseAccount(user: UserPrincipal): Promise<void>;
  connections: ConnectionService;
  revokeConnection: ConnectionChanges['revokeConnection'];
  predictions: PredictionService;
  recordEvent(appId: string, event: PredictionEventRequest): Promise<void>;
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
  passwords: PasswordPages;
  refreshCookie: RefreshCookie;
  sendFile: SendFile;
  sendConsole: SendFile;
}
