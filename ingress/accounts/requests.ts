export interface SignUp {
  email: string;
  password: string;
  name: string;
  inviteCode: string | undefined;
  address: string;
}

export interface AccountChange {
  name: string | undefined;
  precisionTarget: number | null | undefined;
  thresholdFloor: number | null | undefined;
  password: string | undefined;
  currentPassword: string | undefined;
  /** Allowed only with a new password. */
  revokeKeys: boolean;
  address: string;
}

export interface PasswordReset {
  password: string;
  revokeKeys: boolean;
  address: string;
}
