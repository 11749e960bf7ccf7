/** The settings of conversations: voice servers, what they may do, and which audio packets count. */
import { parseVoiceUrls, voiceUrlProblem } from '@flotilla/fleet';
import { z } from 'zod';
import { headerText, judged, unset } from './setting-kinds.js';

export const voiceSettings = {
  FLOTILLA_VOICE_URL: judged(voiceUrlProblem),
  FLOTILLA_VOICE_TOKEN: headerText,
  FLOTILLA_VOICE_USER_TOOLS: z.preprocess(unset, z.enum(['on', 'off'], 'must be on or off').default('off')),
  FLOTILLA_UDP_SOURCES: z.preprocess(unset, z.enum(['device', 'any'], 'must be device or any').default('device')),
};

export interface VoiceConfig {
  /** Voice servers of devices and groups that have none, in order of preference. */
  readonly urls: readonly string[];
  /** The hub sends it to these servers only. */
  readonly token: string | undefined;
  /** Voice servers may call user-only tools. */
  readonly mayCallUserOnly: boolean;
  /** Audio counts only from the address of the device's own connection. */
  readonly checksAddress: boolean;
}

type Values = z.infer<z.ZodObject<typeof voiceSettings>>;

export function voiceOf(values: Values): VoiceConfig {
  return {
    urls: parseVoiceUrls(values.FLOTILLA_VOICE_URL),
    token: values.FLOTILLA_VOICE_TOKEN,
    mayCallUserOnly: values.FLOTILLA_VOICE_USER_TOOLS === 'on',
    checksAddress: values.FLOTILLA_UDP_SOURCES === 'device',
  };
}
