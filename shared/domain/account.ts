/** The person that a request of `/api` acts for. */
export interface UserPrincipal {
  readonly id: string;
}
