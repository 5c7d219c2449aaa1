import { AppError } from '../../shared/errors/app-error.ts';
import type { Health } from '../../shared/operator-port.ts';
import { closed, oneOf } from '../../shared/schemas/build.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';

/** Liveness and readiness on the public port, for balancers that see no other. */
export function healthEndpoints(health: Health): Endpoint[] {
  const common = { method: 'GET', auth: 'none', errors: ['service_unavailable'], status: 200 } as const;
  const answer = (
    path: '/healthz' | '/readyz',
    status: 'ok' | 'ready',
    holds: () => boolean | Promise<boolean>,
  ) =>
    endpoint({ ...common, path, response: closed({ status: oneOf([status]) }) }).handle(async () => {
      if (!(await holds())) throw new AppError('service_unavailable');
      return { body: { status } };
    });
  return [
    answer('/healthz', 'ok', () => health.healthy()),
    answer('/readyz', 'ready', () => health.ready().catch(() => false)),
  ];
}
