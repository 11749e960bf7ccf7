/**
 * The proof of a registered xiaozhi device at its first OTA request, as an alternative to codes,
 * links and factory keys.
 */
import type { NewDevice } from '@flotilla/registry';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { Registration } from './parse-registrations.js';

/** Without a person who looks at the board, the time in which its MAC is enough must be short. */
const windowDaysMax = 7;
const windowMsMax = windowDaysMax * 86_400_000;
/**
 * The form that the firmware uses. The id is the whole proof, so short texts are refused. [xiaozhi
 * §1.2]
 */
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Proof = Pick<NewDevice, 'clientUuid' | 'admitWithoutCodeUntil'>;

export function parseProof(
  { admitWithoutCodeUntil, clientId, dialect }: Registration,
  path: readonly string[],
  now: number,
): { readonly proof: Proof } | { readonly refusal: Refusal } {
  if (clientId === undefined && admitWithoutCodeUntil === undefined) return { proof: {} };
  const member = clientId === undefined ? 'admitWithoutCodeUntil' : 'clientId';
  const refused = (message: string) => ({ refusal: refuse('INVALID', [...path, member], message) });
  if (dialect !== 'XIAOZHI')
    return refused(
      'An MCPU device proves itself by the credential of this answer: it has no Client-Id and shows no code.',
    );
  if (admitWithoutCodeUntil === undefined) return parseClientId(clientId ?? '', refused);
  if (clientId !== undefined)
    return refused(
      'Give clientId or admitWithoutCodeUntil, not both: a board whose Client-Id is known needs no trust on first use.',
    );
  if (admitWithoutCodeUntil <= now) return refused('admitWithoutCodeUntil is in the past.');
  if (admitWithoutCodeUntil - now > windowMsMax)
    return refused(`admitWithoutCodeUntil is at most ${String(windowDaysMax)} days from now.`);
  return { proof: { admitWithoutCodeUntil } };
}

/** The message does not repeat the text, which may be the secret of another device. */
function parseClientId(
  clientId: string,
  refused: (message: string) => { readonly refusal: Refusal },
): { readonly proof: Proof } | { readonly refusal: Refusal } {
  const clientUuid = clientId.toLowerCase();
  if (!uuidPattern.test(clientUuid))
    return refused(
      'A Client-Id is a UUID, for example 3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21. ' +
        'The board sends it in the header Client-Id.',
    );
  return { proof: { clientUuid } };
}
