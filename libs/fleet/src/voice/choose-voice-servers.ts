/**
 * The rule for who may choose voice servers of a device or group, which hear what is said to the
 * device. DEVICES_WRITE chooses among the listed ones, ADMIN any, and a scoped key none.
 */
import type { Registry } from '@flotilla/registry';
import type { Actor } from '../actor.js';
import { FleetError } from '../fleet-error.js';
import { noSuchDevice, refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import type { VoiceOrigins } from './voice-origins.js';
import { parseVoiceUrls, refuseVoiceUrl } from './voice-urls.js';

interface VoiceChoice {
  /** As it was given: addresses with commas between, none to take them away. */
  readonly text: string | null | undefined;
  /** What the device or group has until now. */
  readonly before: readonly string[];
  readonly path: readonly string[];
}

export type ChosenVoice = { readonly voiceUrls: readonly string[] } | { readonly refusal: Refusal };

export async function chooseDeviceVoiceServers(
  { registry, voiceOrigins }: { readonly registry: Pick<Registry, 'viewFor'>; readonly voiceOrigins: VoiceOrigins },
  deviceId: string,
  text: string | null,
  actor: Actor,
): Promise<ChosenVoice> {
  const device = await registry.viewFor(actor).devices.find(deviceId);
  if (device === undefined) return { refusal: noSuchDevice(deviceId, ['input', 'deviceId']) };
  return chooseVoiceServers({ text, before: device.voiceUrls, path: ['input', 'voiceUrl'] }, actor, voiceOrigins);
}

/** Throws FORBIDDEN for a scoped key. Any actor may send back what is set, as forms do. */
export function chooseVoiceServers(
  { text, before, path }: VoiceChoice,
  actor: Pick<Actor, 'devices' | 'isAdmin'>,
  origins: VoiceOrigins,
): ChosenVoice {
  const refusal = refuseVoiceUrl(text, path);
  if (refusal !== undefined) return { refusal };
  const voiceUrls = parseVoiceUrls(text);
  const isSame = voiceUrls.length === before.length && voiceUrls.every((url, index) => url === before[index]);
  if (isSame) return { voiceUrls };
  if (actor.devices !== undefined)
    throw new FleetError(
      'FORBIDDEN',
      'A key that is limited to some devices cannot change voiceUrl, which decides who hears a device.',
    );
  const unlisted =
    actor.isAdmin === true ? undefined : voiceUrls.find((url) => !before.includes(url) && !origins.isListed(url));
  return unlisted === undefined ? { voiceUrls } : { refusal: unlistedServer(unlisted, path) };
}

function unlistedServer(url: string, path: readonly string[]): Refusal {
  const { origin } = new URL(url);
  const message =
    `${origin} is not in FLOTILLA_VOICE_URLS, and setting it needs the scope ADMIN. ` +
    'Ask an administrator to set it or to list it.';
  return refuse('URL_FORBIDDEN', path, message);
}
