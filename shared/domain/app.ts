import { AppError } from '../errors/app-error.ts';
import type { FEATURES } from '../schemas/apps.ts';

export interface AppPrincipal {
  readonly id: string;
  /** HMAC key for the fingerprints of the app's request bodies, so that fingerprints of two apps cannot be compared. */
  readonly fingerprintKey: Buffer;
  /** Fate of a prediction whose last caller has disconnected, unless the request overrides it. */
  readonly onDisconnect: 'continue' | 'cancel';
  /** Confidence below which a prediction abstains. */
  readonly minConfidence: number;
  readonly disabled: readonly string[];
}

/** Throws `feature_disabled` if any of the features is disabled. */
export function checkFeatures(
  app: Pick<AppPrincipal, 'disabled'>,
  ...features: (typeof FEATURES)[number][]
): void {
  if (features.some((feature) => app.disabled.includes(feature))) throw new AppError('feature_disabled');
}
