/** The value of an `Authorization` header of the scheme Bearer, whose name has no case (RFC 9110, 11.1). */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.match(/^Bearer +(\S+)$/i)?.[1];
}
