import { AppError } from '../../shared/errors/app-error.ts';

/** A signal that aborts with `service_unavailable`. */
export function timeLimit(ms: number): { signal: AbortSignal; timer: NodeJS.Timeout } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new AppError('service_unavailable')), ms);
  return { signal: controller.signal, timer };
}
