import { AppError } from '../errors/app-error.ts';
import { PREDICTION_MODES } from '../schemas/limits.ts';

/** Features that an operator can disable for an app. */
export const FEATURES = ['predictions', 'connections', ...PREDICTION_MODES] as const;
export type Feature = (typeof FEATURES)[number];

/** The application that a request acts for: what its key says about it, and no more. */
export interface AppPrincipal {
  readonly id: string;
  /** Keys the fingerprints of the app's request bodies, so that they cannot be compared across apps. */
  readonly fingerprintKey: Buffer;
  /** Decides about a running prediction whose last caller is gone. */
  readonly onDisconnect: 'continue' | 'cancel';
  /** The confidence below which a prediction abstains. */
  readonly minConfidence: number;
  /** Features that the operator turned off for this app. */
  readonly disabled: readonly string[];
}

/** Throws `feature_disabled` when one of the features is disabled for the app. */
export function checkFeatures(app: Pick<AppPrincipal, 'disabled'>, ...features: readonly Feature[]): void {
  if (features.some((feature) => app.disabled.includes(feature))) throw new AppError('feature_disabled');
}
