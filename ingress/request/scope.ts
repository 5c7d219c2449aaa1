import { AsyncLocalStorage } from 'node:async_hooks';
import type { TraceFacts } from '../../shared/domain/work.ts';
import { traceHeaders } from '../../shared/tracing/span.ts';

/** Ids that connect a request and its work in the log. */
export interface RequestScope {
  requestId: string;
  /** Id of the work that the request started or waits for: not a job's `job_id`. */
  work?: string;
  /** Time that the checks before the request's body took, such as the look-up of its credential. */
  checkedMs?: number;
}

const scope = new AsyncLocalStorage<RequestScope>();

export function withinRequest<Result>(request: RequestScope, serve: () => Result): Result {
  return scope.run(request, serve);
}

/** Adds the request id and the trace headers to the facts of a piece of work, for the worker's log and spans. */
export function withTrace(facts: unknown): TraceFacts {
  const { requestId } = scope.getStore() ?? {};
  return { ...Object(facts), ...(requestId !== undefined && { trace: { requestId, ...traceHeaders() } }) };
}

/** Returns the part of a request's time that was over before it could be admitted. */
export function checkedMs(): number {
  return scope.getStore()?.checkedMs ?? 0;
}

export function setWorkId(id: string): void {
  const request = scope.getStore();
  if (request !== undefined) request.work = id;
}
