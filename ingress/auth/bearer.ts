/** The value of an `Authorization: Bearer` header; scheme names are case-insensitive (RFC 9110, 11.1). */
export function bearerOf(authorization: string | undefined): string | undefined {
  return authorization?.match(/^Bearer +(\S+)$/i)?.[1];
}
