import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const SECRET_BYTES = 32;
const PREFIX_CHARACTERS = 6;
const CHECKSUM_LENGTH = 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const APP_KEY_START = 'fc_';
const SERVICE_KEY_START = 'service_';

interface NewKey {
  /** Shown once, and never stored. */
  key: string;
  hash: Buffer;
  /** The first characters, so that people can recognise a key. */
  prefix: string;
}

export function newAppKey(): NewKey {
  return newKey(APP_KEY_START);
}

/** Checks the format and the checksum, so that a typo causes no look-up. */
export function looksLikeAppKey(value: string): boolean {
  return looksLikeKey(APP_KEY_START, value);
}

export function newServiceKey(): NewKey {
  return newKey(SERVICE_KEY_START);
}

export function startsLikeServiceKey(value: string): boolean {
  return value.startsWith(SERVICE_KEY_START);
}

export function looksLikeServiceKey(value: string): boolean {
  return looksLikeKey(SERVICE_KEY_START, value);
}

/** Makes tokens for codes, links, sessions and refreshing. Only the hash is stored. */
export function newToken(): { token: string; hash: Buffer } {
  const token = randomBytes(SECRET_BYTES).toString('base64url');
  return { token, hash: hashKey(token) };
}

export function isToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** One round of SHA-256 is enough for 256 random bits. */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

function newKey(start: string): NewKey {
  const secret = start + randomBytes(SECRET_BYTES).toString('base64url');
  const key = secret + checksum(secret);
  return { key, hash: hashKey(key), prefix: key.slice(0, start.length + PREFIX_CHARACTERS) };
}

function looksLikeKey(start: string, value: string): boolean {
  if (!value.startsWith(start)) return false;
  if (!/^[A-Za-z0-9_-]{43}[A-Za-z0-9]{6}$/.test(value.slice(start.length))) return false;
  return checksum(value.slice(0, -CHECKSUM_LENGTH)) === value.slice(-CHECKSUM_LENGTH);
}

/** Returns the CRC32 in base 62: six characters hold all of its 32 bits. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
