import { AsyncLocalStorage } from 'node:async_hooks';
import type { Traced } from '../../shared/domain/work.ts';
import { traceHeaders } from '../../shared/tracing/span.ts';

/** Ids by which the log joins a request and its work. */
export interface RequestScope {
  requestId: string;
  /** The id of the work that it started or waits for: a prediction's, a job's. */
  work?: string;
}

const scope = new AsyncLocalStorage<RequestScope>();

/** Serves a request, and all that is called meanwhile knows which. */
export function withinRequest<Result>(request: RequestScope, serve: () => Result): Result {
  return scope.run(request, serve);
}

/** The facts of an admission, with the request and the span that ask for it: a worker's log and spans go on with them. */
export function traced(facts: unknown): Traced {
  const { requestId } = scope.getStore() ?? {};
  return { ...Object(facts), ...(requestId !== undefined && { trace: { requestId, ...traceHeaders() } }) };
}

/** Notes the work of the current request. */
export function noteWork(id: string): void {
  const request = scope.getStore();
  if (request !== undefined) request.work = id;
}
