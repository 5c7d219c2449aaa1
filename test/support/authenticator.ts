import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { PasskeyAssertion, PasskeyAttestation } from '../../shared/schemas/passkeys.ts';

const FLAGS = { present: 0x01, verified: 0x04, backedUp: 0x18, attested: 0x40 };

interface Answering {
  challenge: string;
  origin: string;
  rpId?: string;
  counter?: number;
  flags?: number;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const encode = (data: string | Buffer) => Buffer.from(data).toString('base64url');

/** An authenticator in software with one passkey (WebAuthn 3, 6), whose answers a test can falsify. */
export class Authenticator {
  readonly id = randomBytes(32);
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  /** Answers as `navigator.credentials.create()` does, without an attestation. */
  create(answering: Answering): PasskeyAttestation {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    // A COSE key: EC2, ES256, P-256.
    const key = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, key]);
    const data = authenticatorData({ ...answering, attested });
    // A CBOR map of `fmt`, `attStmt` and `authData`.
    const head = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex');
    const attestationObject = Buffer.concat([head, Buffer.from([data.length >> 8, data.length & 255]), data]);
    const clientDataJSON = encode(clientData('webauthn.create', answering));
    return this.#answer({
      clientDataJSON,
      attestationObject: encode(attestationObject),
      transports: ['internal'],
    });
  }

  /** Answers as `navigator.credentials.get()` does. */
  get(answering: Answering): PasskeyAssertion {
    const data = authenticatorData(answering);
    const client = clientData('webauthn.get', answering);
    const signature = sign('sha256', Buffer.concat([data, sha256(client)]), this.#keys.privateKey);
    return this.#answer({
      clientDataJSON: encode(client),
      authenticatorData: encode(data),
      signature: encode(signature),
    });
  }

  #answer<Response>(response: Response) {
    const id = encode(this.id);
    return { id, rawId: id, type: 'public-key' as const, response };
  }
}

function clientData(type: string, { challenge, origin }: Answering): string {
  return JSON.stringify({ type, challenge, origin, crossOrigin: false });
}

function authenticatorData({
  origin,
  rpId = new URL(origin).hostname,
  counter = 0,
  flags = FLAGS.present | FLAGS.verified | FLAGS.backedUp,
  attested = Buffer.alloc(0),
}: Answering & { attested?: Buffer }): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const all = flags | (attested.length > 0 ? FLAGS.attested : 0);
  return Buffer.concat([sha256(rpId), Buffer.from([all]), count, attested]);
}
