/** The headers of a handshake with a voice server for a device. [xiaozhi §1.2, §8] */
import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import type { FramingVersion } from '@flotilla/voice';
import type { ConversingDevice } from '../../conversations/conversation-host.js';
import type { VoiceServer } from './voice-server.js';

export interface SpeakingDevice extends Pick<ConversingDevice, 'deviceId' | 'clientId' | 'remoteAddress'> {
  readonly version: FramingVersion;
}

/** Each header appears once: servers reject duplicates. `now`: ms since the Unix epoch. */
export function handshakeHeaders(
  { credential, isListed }: Pick<VoiceServer, 'credential' | 'isListed'>,
  { clientId: ownId, deviceId: id, remoteAddress = '', version }: SpeakingDevice,
  now: number,
): Readonly<Record<string, string>> {
  const deviceId = headerText(id);
  const clientId = headerText(ownId ?? id);
  const authorization =
    credential && authorizationOf(credential, { clientId, deviceId, seconds: Math.floor(now / 1_000) });
  return {
    'Device-Id': deviceId,
    'Protocol-Version': String(version),
    ...(isListed && { 'Client-Id': clientId }),
    ...(isListed && isIP(remoteAddress) !== 0 && { 'X-Real-IP': remoteAddress }),
    ...(authorization !== undefined && { Authorization: authorization }),
  };
}

interface SignedFacts {
  /** As in the headers. */
  readonly clientId: string;
  readonly deviceId: string;
  /** The time of the signature, since the Unix epoch. */
  readonly seconds: number;
}

/** The token that xiaozhi-esp32-server accepts; `key` is its `server.secret`. */
export function signVoiceToken(key: string, { clientId, deviceId, seconds }: SignedFacts): string {
  const signature = createHmac('sha256', key).update(`${clientId}|${deviceId}|${seconds}`).digest('base64url');
  return `${signature}.${seconds}`;
}

function authorizationOf(credential: NonNullable<VoiceServer['credential']>, facts: SignedFacts): string {
  const token = credential.kind === 'token' ? credential.token : signVoiceToken(credential.key, facts);
  return token.includes(' ') ? token : `Bearer ${token}`;
}

/** Converts to a valid header text: MQTT devices choose their ids freely, in any script. */
function headerText(text: string): string {
  return /^[\x21-\x7e]+$/.test(text) ? text : encodeURIComponent(text);
}
