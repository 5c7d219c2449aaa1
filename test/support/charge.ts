import type { Charge } from '../../workers/providers/provider.ts';

/** A charge for calls that no ledger books. */
export const anyCharge: Charge = { accountId: null, appId: null, workId: 'test', attempt: 1, kind: 'test' };
