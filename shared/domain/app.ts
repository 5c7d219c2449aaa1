import { AppError } from '../errors/app-error.ts';
import { PREDICTION_MODES } from '../schemas/limits.ts';

/** Features that an operator can disable for an app. */
export const FEATURES = ['predictions', 'connections', ...PREDICTION_MODES] as const;
export type Feature = (typeof FEATURES)[number];

/** The application for which a request acts, identified by its key. */
export interface AppPrincipal {
  readonly id: string;
  /** HMAC key for the fingerprints of the app's request bodies, so that fingerprints of two apps cannot be compared. */
  readonly fingerprintKey: Buffer;
  /** Default for requests: whether a prediction is cancelled at once when its last caller has disconnected. */
  readonly onDisconnect: 'continue' | 'cancel';
  /** Confidence below which a prediction abstains. */
  readonly minConfidence: number;
  /** Features that the operator disabled for this app. */
  readonly disabled: readonly string[];
}

/** Throws `feature_disabled` when one of the features is disabled for the app. */
export function checkFeatures(app: Pick<AppPrincipal, 'disabled'>, ...features: readonly Feature[]): void {
  if (features.some((feature) => app.disabled.includes(feature))) throw new AppError('feature_disabled');
}
