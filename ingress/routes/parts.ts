import type { EntityManager } from '@mikro-orm/postgresql';
import type { ContextReadLimits } from '../../shared/db/stores/memory/context.ts';
import type { UserPrincipal } from '../../shared/domain/account.ts';
import type { ContextBundle } from '../../shared/domain/context-bundle.ts';
import type { ContextQuery } from '../../shared/domain/context-rows.ts';
import type { Health } from '../../shared/process/operator-port.ts';
import type { PredictionEventRequest } from '../../shared/schemas/predictions.ts';
import type { AccountService } from '../accounts/service.ts';
import type { JoinWaitlist } from '../accounts/waitlist.ts';
import type { ConnectionService } from '../connect/connections.ts';
import type { ConsentPages } from '../connect/consent.ts';
import type { PasswordPages } from '../connect/passwords.ts';
import type { RefreshCookie } from '../console/refresh-cookie.ts';
import type { TakeTurn } from '../guards/account-turns.ts';
import type { JobServices } from '../jobs/answer.ts';
import type { SendFile } from '../pages/files.ts';
import type { FrontPage } from '../pages/front.ts';
import type { DraftService } from '../predictions/drafts.ts';
import type { PredictionService } from '../predictions/service.ts';
import type { RecordingService } from '../recording/service.ts';
import type { ReplyService } from '../replies/service.ts';
import type { EndingStores } from '../work/ending-stores.ts';

/** Services that the handlers use. */
export interface Parts extends JobServices {
  em: () => EntityManager;
  accounts: AccountService;
  joinWaitlist: JoinWaitlist;
  eraseAccount(user: UserPrincipal): Promise<void>;
  connections: ConnectionService;
  revokeOwnConnection: EndingStores['revokeOwnConnection'];
  predictions: PredictionService;
  recordEvent(appId: string, event: PredictionEventRequest): Promise<void>;
  drafts: DraftService;
  replies: ReplyService;
  supportedModels: readonly string[];
  recording: RecordingService;
  assembleContext(accountId: string, query: ContextQuery, reading: ContextReadLimits): Promise<ContextBundle>;
  takeContextTurn: TakeTurn;
  takeSearchTurn: TakeTurn;
  sandboxUnits: number;
  /** Liveness and readiness on the public port, for load balancers that reach no other port. */
  health: Health;
  front: FrontPage;
  consent: ConsentPages;
  passwords: PasswordPages;
  refreshCookie: RefreshCookie;
  sendFile: SendFile;
  sendConsole: SendFile;
}
