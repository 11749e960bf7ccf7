/**
 * The rights of a voice server, by the setting that names it: a server of the fleet, a listed one,
 * or any other.
 */
import { publicOnly } from '@flotilla/fleet';
import type { VoiceServer } from '@flotilla/gateway';
import type { VoiceConfig } from '../settings/voice-settings.js';

export function voiceServerAt(
  url: string,
  { credential, mayCallUserOnly, origins }: Pick<VoiceConfig, 'credential' | 'mayCallUserOnly' | 'origins'>,
): VoiceServer {
  const isOwn = origins.isOwn(url);
  const isListed = origins.isListed(url);
  // A fixed token opens every conversation of the fleet; a signature is valid for one device only.
  const hasCredential = isOwn || (isListed && credential?.kind === 'signing_key');
  return {
    url,
    isListed,
    credential: hasCredential ? credential : undefined,
    mayCallUserOnly: isOwn && mayCallUserOnly,
    guard: isListed ? undefined : publicOnly,
  };
}
