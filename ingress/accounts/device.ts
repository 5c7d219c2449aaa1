import type { Device } from '../../shared/domain/account.ts';

/** A header has up to 16 KiB; what tells clients apart is at its beginning. */
const READ_LENGTH = 512;

/** The first that fits: most browsers also name those that they are compatible with. */
const CLIENTS = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|OPiOS|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/\S+ .*\bSafari\//, 'Safari'],
] as const;

/** The same: Android is a Linux, and iPads name a Mac. */
const SYSTEMS = [
  [/\b(iPhone|iPod)\b/, 'iOS'],
  [/\biPad\b/, 'iPadOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\b(Mac OS X|Macintosh|macOS|Darwin)\b/, 'macOS'],
  [/\bLinux\b/i, 'Linux'],
] as const;

/** The name of a program that is no browser, such as `curl` (RFC 9110, 10.1.5). */
const PRODUCT = /^[A-Za-z][\w.-]{0,39}(?=[/ ]|$)/;

/** Describes a device in words of ours by the header `User-Agent`, of which only the name of a program is kept. */
export function deviceOf(userAgent = ''): Device {
  const read = userAgent.slice(0, READ_LENGTH);
  const nameIn = (names: readonly (readonly [RegExp, string])[]) =>
    names.find(([pattern]) => pattern.test(read))?.[1] ?? null;
  const [product = null] = read.match(PRODUCT) ?? [];
  return { client: nameIn(CLIENTS) ?? (product === 'Mozilla' ? null : product), system: nameIn(SYSTEMS) };
}
