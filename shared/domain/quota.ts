import { AppError } from '../errors/app-error.ts';

/** A quota that has no room for what is to be added. */
export interface Excess {
  /** The name of what is counted, in the plural. */
  resource: string;
  used: number;
  added: number;
  quota: number;
}

/** The refusal to store something for an account, which says what is used, and of how much. */
export function quotaExceeded(excess: readonly Excess[]): AppError {
  const reasons = excess.map(
    ({ used, quota, resource, added }) =>
      `${used} of ${quota} ${resource} are used, and ${added} more would be needed`,
  );
  return new AppError('quota_exceeded', {
    explanation: `The account's quota is exceeded: ${reasons.join('; ')}.`,
  });
}
