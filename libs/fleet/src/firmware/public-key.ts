/**
 * Reads public Ed25519 keys: PEM, or base64 of the raw bytes or of the DER form
 * (SubjectPublicKeyInfo, RFC 8410).
 */
import { createHash, createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

interface SigningKeyBytes {
  /** The 32 raw bytes in base64. */
  readonly publicKey: string;
  /** Lower-case hex SHA-256 of the raw bytes. */
  readonly fingerprint: string;
}

/** What the DER form of an Ed25519 key has before the raw bytes. [RFC 8410 §4] */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex');
const rawBytes = 32;

type ReadKey = { readonly ok: true; readonly key: SigningKeyBytes } | { readonly ok: false; readonly message: string };

export function readPublicKey(text: string): ReadKey {
  if (text.includes('PRIVATE KEY'))
    return wrong(
      'This is a private key. Give the public key, and replace the pair if the private key was sent to anybody.',
    );
  const der = text.includes('-----BEGIN') ? derOfPem(text) : derOfBase64(text);
  if (der === undefined)
    return wrong('The key cannot be read: give PEM (-----BEGIN PUBLIC KEY-----), or the 32 bytes in base64.');
  const key = keyOf(der);
  if (key === undefined) return wrong('The key cannot be read: it is not a valid public key.');
  if (key.asymmetricKeyType !== 'ed25519')
    return wrong(`The key is of the type ${key.asymmetricKeyType ?? 'unknown'}; firmware is signed with Ed25519 keys.`);
  const raw = key.export({ format: 'der', type: 'spki' }).subarray(derPrefix.length);
  return {
    ok: true,
    key: { publicKey: raw.toString('base64'), fingerprint: createHash('sha256').update(raw).digest('hex') },
  };
}

/** The key of `SigningKeyBytes.publicKey`. */
export function keyObjectOf(publicKey: string): KeyObject {
  return createPublicKey({
    key: Buffer.concat([derPrefix, Buffer.from(publicKey, 'base64')]),
    format: 'der',
    type: 'spki',
  });
}

function derOfPem(text: string): Buffer | undefined {
  const [, body] = /-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/.exec(text) ?? [];
  return body === undefined ? undefined : Buffer.from(body, 'base64');
}

function derOfBase64(text: string): Buffer | undefined {
  const compact = text.trim();
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) return undefined;
  const bytes = Buffer.from(compact, 'base64');
  return bytes.length === rawBytes ? Buffer.concat([derPrefix, bytes]) : bytes;
}

function keyOf(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function wrong(message: string): ReadKey {
  return { ok: false, message };
}
