import { randomBytes, timingSafeEqual } from 'node:crypto';
import { argon2id } from './argon2.ts';

/** OWASP's Password Storage Cheat Sheet (2025): argon2id, 19 MiB, two passes, one lane. */
const COST = { memory: 19 * 1024, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** The hash of a new password as a PHC string, which names its cost, so that later hashes can cost more. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return write(salt, await tagOf(password, salt, COST));
}

/** Whether the password matches the hash. */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  const { cost, salt, tag } = read(hash);
  return timingSafeEqual(await tagOf(password, salt, cost), tag);
}

function tagOf(password: string, nonce: Buffer, cost: typeof COST): Promise<Buffer> {
  return argon2id({ message: normalize(password), nonce, tagLength: TAG_BYTES, ...cost });
}

/** Keyboards compose the same letter in different ways. */
function normalize(password: string): string {
  return password.normalize('NFC');
}

function write(salt: Buffer, tag: Buffer): string {
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

function read(hash: string): { cost: typeof COST; salt: Buffer; tag: Buffer } {
  const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash) ?? [];
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { cost, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** The hash of a password that nobody knows, so that an account that does not exist costs the same work. */
export const DECOY_HASH = write(randomBytes(SALT_BYTES), randomBytes(TAG_BYTES));
