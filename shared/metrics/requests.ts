import { counter, histogram } from './registry.ts';

const requestCounter = counter(
  'forecue_http_requests_total',
  'Answered requests; code is that of the error.',
  ['method', 'route', 'status', 'code'],
);

const requestDurations = histogram(
  'forecue_http_request_duration_seconds',
  'Time from a request to its answer.',
  ['method', 'route'],
);

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

interface AnsweredRequest {
  method: string;
  /** Pattern of the matched route; undefined if none matched. */
  route: string | undefined;
  status: number;
  code: string | undefined;
  ms: number;
}

export function observeRequest({
  method: sent,
  route = 'none',
  status,
  code = '',
  ms,
}: AnsweredRequest): void {
  const method = METHODS.has(sent) ? sent : 'other';
  requestCounter.inc({ method, route, status, code });
  requestDurations.observe({ method, route }, ms / 1000);
}
