const WEB = /^https?:$/;

/** Parses `CORS_ORIGINS`: origins as browsers send them, comma separated. Undefined when any is invalid. */
export function parseOrigins(value: string): string[] | undefined {
  const origins = value.split(',').map((origin) => origin.trim());
  return origins.every(isOrigin) ? origins : undefined;
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol } = new URL(text);
  return WEB.test(protocol) && origin === text;
}
