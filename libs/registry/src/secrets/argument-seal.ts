/**
 * Keeps the secret arguments of jobs, and the settings of notification channels: encrypted with a
 * key that is not in the database, so that a copy of the database does not show them. Hashes of
 * requests with secrets are keyed, because a short secret can be found by trying.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { maskArguments } from '@flotilla/mcp';
import { z } from 'zod';

/** AES-256-GCM: bytes of the key, of the nonce, which is drawn for each job, and of the tag. */
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

type Arguments = Readonly<Record<string, unknown>>;

const openedArguments = z.record(z.string(), z.unknown());

interface SealedArguments {
  /** With secrets masked, for every reader. */
  readonly shown: Arguments;
  /** The arguments as they are sent; undefined where `shown` is all there is. */
  readonly sealed: Buffer | undefined;
}

export class ArgumentSeal {
  readonly #key: Buffer;
  readonly #hashKey: Buffer;

  /** All processes on one database need the same `secret`: one seals, and another one sends. */
  constructor(secret: string | Uint8Array = randomBytes(KEY_BYTES)) {
    const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
    this.#key = derive('flotilla job arguments');
    this.#hashKey = derive('flotilla request hashes');
  }

  /** `about`: what the arguments belong to; they cannot be opened as those of anything else. */
  seal(about: string, tool: string, args: Arguments): SealedArguments {
    const shown = maskArguments(tool, args);
    if (shown === args) return { shown, sealed: undefined };
    return { shown, sealed: this.sealAll(about, args) };
  }

  /** Encrypts all of it, whether it has secrets or not. */
  sealAll(about: string, args: Arguments): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(Buffer.from(about));
    const body = Buffer.concat([cipher.update(JSON.stringify(args), 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  }

  /** Undefined where they were sealed with another key, or changed. */
  open(about: string, sealed: Uint8Array): Arguments | undefined {
    const [nonce, tag] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)];
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES }).setAAD(
        Buffer.from(about),
      );
      decipher.setAuthTag(tag);
      const body = [decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()];
      return openedArguments.parse(JSON.parse(Buffer.concat(body).toString('utf8')));
    } catch {
      return undefined;
    }
  }

  /** The hash of a request as it is stored: keyed where the request has secrets. */
  storedHash(requestHash: string, tool: string, args: Arguments): string {
    return maskArguments(tool, args) === args ? requestHash : this.#keyed(requestHash);
  }

  /** Whether a stored hash is that of the request. */
  isHashOf(stored: string, requestHash: string): boolean {
    return stored === requestHash || stored === this.#keyed(requestHash);
  }

  #keyed(requestHash: string): string {
    return createHmac('sha256', this.#hashKey).update(requestHash).digest('hex');
  }
}
