/**
 * Settings of conversations: voice servers, their rights, the credential of the hub, and accepted
 * audio packets.
 */
import { parseVoiceUrls, VoiceOrigins, voiceUrlProblem } from '@flotilla/fleet';
import type { VoiceServer } from '@flotilla/gateway';
import type { z } from 'zod';
import { checked, choice, headerText, matching, originsOf } from './setting-kinds.js';

export const voiceSettings = {
  FLOTILLA_VOICE_URL: checked(voiceUrlProblem),
  FLOTILLA_VOICE_URLS: originsOf(['ws:', 'wss:'], 'wss://voice.example.net'),
  FLOTILLA_VOICE_TOKEN: headerText,
  FLOTILLA_VOICE_SIGNING_KEY: matching(/^\P{Cc}+$/u, 'must be on one line, as the voice server has it'),
  FLOTILLA_VOICE_USER_TOOLS: choice(['on', 'off'], 'off'),
  FLOTILLA_UDP_SOURCES: choice(['device', 'any'], 'device'),
};

export interface VoiceConfig {
  /** Voice servers of devices and groups without any, in order of preference. */
  readonly urls: readonly string[];
  /** These servers and the others that operators may choose. */
  readonly origins: VoiceOrigins;
  /** A token is sent only to the fleet's servers, a signature to all listed ones. */
  readonly credential: VoiceServer['credential'];
  /** Whether the fleet's voice servers may call user-only tools. */
  readonly mayCallUserOnly: boolean;
  /** Whether audio must come from the address of the device's connection. */
  readonly checksAddress: boolean;
}

type Values = z.infer<z.ZodObject<typeof voiceSettings>>;

export function voiceOf(values: Values): VoiceConfig {
  const { FLOTILLA_VOICE_SIGNING_KEY: key, FLOTILLA_VOICE_TOKEN: token, FLOTILLA_VOICE_URLS: listed } = values;
  const urls = parseVoiceUrls(values.FLOTILLA_VOICE_URL);
  return {
    urls,
    origins: new VoiceOrigins({ own: urls, listed }),
    credential:
      key !== undefined ? { kind: 'signing_key', key } : token !== undefined ? { kind: 'token', token } : undefined,
    mayCallUserOnly: values.FLOTILLA_VOICE_USER_TOOLS === 'on',
    checksAddress: values.FLOTILLA_UDP_SOURCES === 'device',
  };
}

export function voiceContradictions(values: Values): string[] {
  const { FLOTILLA_VOICE_SIGNING_KEY: key, FLOTILLA_VOICE_TOKEN: token } = values;
  if (key === undefined) return [];
  if (token !== undefined)
    return [
      'FLOTILLA_VOICE_TOKEN and FLOTILLA_VOICE_SIGNING_KEY exclude each other. ' +
        'Set the key for xiaozhi-esp32-server, or the token for other servers.',
    ];
  const isNamed = values.FLOTILLA_VOICE_URL !== undefined || values.FLOTILLA_VOICE_URLS.length > 0;
  return isNamed
    ? []
    : ['FLOTILLA_VOICE_SIGNING_KEY needs a server: set one of these, FLOTILLA_VOICE_URL or FLOTILLA_VOICE_URLS.'];
}
