/** Why a voice server did not accept a conversation. */
import type { VoiceServer } from './voice-server.js';

export type BackendProblem =
  /** No connection, a timeout, or an answer that is not from a voice server. */
  | 'UNREACHABLE'
  /** It asks to bind the device instead of answering its hello. */
  | 'NOT_BOUND'
  /** It rejected the hub's token. */
  | 'AUTH_FAILED'
  /** It is not listed and in a private network or on this machine. */
  | 'ADDRESS_FORBIDDEN';

/** `message` contains the server's answer, but no token or code. */
export class BackendUnavailable extends Error {
  override readonly name = 'BackendUnavailable';

  constructor(
    readonly problem: BackendProblem,
    message: string,
  ) {
    super(message);
  }
}

export function notBound(): BackendUnavailable {
  return new BackendUnavailable(
    'NOT_BOUND',
    'the device is not bound at this voice server: bind it in the console of that server',
  );
}

export function authFailed({ credential, isListed, url }: VoiceServer): BackendUnavailable {
  const advice =
    credential !== undefined
      ? 'check FLOTILLA_VOICE_SIGNING_KEY or FLOTILLA_VOICE_TOKEN, and the clocks of both machines'
      : isListed
        ? 'set FLOTILLA_VOICE_SIGNING_KEY for xiaozhi-esp32-server, or FLOTILLA_VOICE_TOKEN for a fixed token'
        : `only listed servers get one; add ${new URL(url).origin} to FLOTILLA_VOICE_URLS`;
  return new BackendUnavailable('AUTH_FAILED', `it rejected the token: ${advice}`);
}

/** Converts an error of the connection. */
export function connectionFailed(error: Error, url: string): BackendUnavailable {
  const isForbidden = 'code' in error && error.code === 'URL_FORBIDDEN';
  if (!isForbidden) return new BackendUnavailable('UNREACHABLE', error.message);
  const { origin } = new URL(url);
  return new BackendUnavailable(
    'ADDRESS_FORBIDDEN',
    `${error.message} Add ${origin} to FLOTILLA_VOICE_URLS if conversations may go there.`,
  );
}
