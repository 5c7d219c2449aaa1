import crypto, { type Argon2Parameters } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Preloaded into a process, makes password hashes take no time. No password is right. */
crypto.argon2Sync = (_: string, { tagLength }: Argon2Parameters) => Buffer.alloc(tagLength);
syncBuiltinESMExports();
