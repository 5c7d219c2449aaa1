import Type, { type Static } from 'typebox';
import { closed, nullable, oneOf } from './build.ts';
import { Timestamp } from './common.ts';

const Count = Type.Integer({ minimum: 0 });
const Id = Type.String({ format: 'uuid' });

/** The answer to a request that is not waited for. */
export const JobReceipt = closed({ job_id: Id, status_url: Type.String() });
export type JobReceipt = Static<typeof JobReceipt>;

export const JobResponse = closed({
  id: Id,
  kind: Type.String(),
  state: oneOf(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  progress: closed({ done: Count, total: Count }),
  /** What the request would have been answered with, had it been waited for. */
  result: Type.Unsafe<object | null>({ type: ['object', 'null'] }),
  error: nullable(closed({ code: Type.String(), message: Type.String() })),
  created_at: Timestamp,
  finished_at: nullable(Timestamp),
});
export type JobResponse = Static<typeof JobResponse>;
