import { AppError } from '../errors/app-error.ts';
import { PREDICTION_MODES } from '../schemas/limits.ts';

/** Features that an operator can disable for an app. */
export const FEATURES = ['predictions', 'connections', ...PREDICTION_MODES] as const;
export type Feature = (typeof FEATURES)[number];

/** The application for which a request acts, as far as its key tells. */
export interface AppPrincipal {
  readonly id: string;
  /** Keys the fingerprints of the app's request bodies, so that they cannot be compared across apps. */
  readonly fingerprintKey: Buffer;
  /** Fate of a running prediction whose last caller has disconnected. */
  readonly onDisconnect: 'continue' | 'cancel';
  /** Confidence below which a prediction abstains. */
  readonly minConfidence: number;
  /** Features that the operator turned off for this app. */
  readonly disabled: readonly string[];
}

/** Throws `feature_disabled` when one of the features is disabled for the app. */
export function checkFeatures(app: Pick<AppPrincipal, 'disabled'>, ...features: readonly Feature[]): void {
  if (features.some((feature) => app.disabled.includes(feature))) throw new AppError('feature_disabled');
}
