/** The application that a request acts for: what its key says about it, and no more. */
export interface AppPrincipal {
  readonly id: string;
  /** Keys the fingerprints of the app's request bodies, so that they cannot be compared across apps. */
  readonly fingerprintKey: Buffer;
  /** What becomes of a running prediction when its last caller is gone. */
  readonly onDisconnect: 'continue' | 'cancel';
  /** Under this confidence a prediction abstains. */
  readonly minConfidence: number;
  /** Features that the operator turned off for this app. */
  readonly disabled: readonly string[];
}
