/** What admins do with the keys whose signatures firmware images may carry. */
import type { FirmwareSigningKeyRow, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { sourceOf } from '../actor.js';
import type { Actor } from '../actor.js';
import { newId } from '../new-id.js';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { readPublicKey } from './public-key.js';

interface SigningKeysDeps {
  readonly registry: Pick<Registry, 'signingKeys'>;
  readonly clock: Clock;
}

interface SigningKeyRequest {
  readonly name: string;
  /** PEM or base64. */
  readonly publicKey: string;
}

export type SigningKeyAnswer = { readonly key: FirmwareSigningKeyRow } | { readonly refusal: Refusal };

/** Keys of one hub: a signature is tried with each of them. */
const signingKeysMax = 20;
/** Characters of a key as text: a PEM file with some comment around it. */
const keyTextMax = 4_096;
/** One line of a list. */
const namePattern = /^\P{Cc}{1,100}$/u;

export class SigningKeys {
  constructor(private readonly deps: SigningKeysDeps) {}

  async add({ name, publicKey }: SigningKeyRequest, actor: Actor): Promise<SigningKeyAnswer> {
    if (name.trim() === '' || !namePattern.test(name))
      return {
        refusal: refuse('INVALID', ['input', 'name'], 'The name of a key has 1 to 100 characters, all on one line.'),
      };
    const path = ['input', 'publicKey'];
    if (publicKey.length > keyTextMax)
      return { refusal: refuse('INVALID', path, `A public key has at most ${keyTextMax} characters.`) };
    const read = readPublicKey(publicKey);
    if (!read.ok) return { refusal: refuse('INVALID', path, read.message) };
    const createdAt = this.deps.clock.now();
    const row = { id: newId(createdAt), name: name.trim(), ...read.key, createdAt };
    const answer = await this.deps.registry.signingKeys.add(row, { keysMax: signingKeysMax, by: sourceOf(actor) });
    switch (answer.kind) {
      case 'added':
        return { key: answer.key };
      case 'DUPLICATE':
        return {
          refusal: refuse('CONFLICT', path, `This key exists with the name "${answer.key.name}" (${answer.key.id}).`),
        };
      case 'FULL':
        return {
          refusal: refuse(
            'LIMIT_EXCEEDED',
            [],
            `There are ${signingKeysMax} signing keys; remove one that is not needed.`,
          ),
        };
    }
  }

  async remove(id: string, actor: Actor): Promise<SigningKeyAnswer> {
    const key = await this.deps.registry.signingKeys.remove(id, { at: this.deps.clock.now(), by: sourceOf(actor) });
    return key === undefined
      ? { refusal: refuse('NOT_FOUND', ['id'], `There is no signing key "${id.slice(0, 100)}".`) }
      : { key };
  }
}
