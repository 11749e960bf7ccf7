/** Texts of devices as parts of MQTT topics and ids: lower-case letters, digits, `_` and `-`. */
import { clipText } from '@flotilla/mcp';

const mac = /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/;
const looksLikeMac = /^[0-9a-f]{12}$/;

/** The id of a device. Two devices never share one: what was replaced leaves a hash behind. */
export function deviceSlug(id: string): string {
  if (mac.test(id)) return id.replaceAll(':', '');
  const slug = slugOf(id);
  return slug === id && !looksLikeMac.test(id) ? slug : `${slug}_${hashOf(id)}`;
}

/** Readable, and not unique: `audio_speaker.volume` becomes `audio_speaker_volume`. */
export function slugOf(text: string): string {
  const slug = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '_')
    .slice(0, 64);
  return slug === '' ? '_' : slug;
}

/** FNV-1a, 32 bits: short and the same in every version, as ids in Home Assistant must be. */
export function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}

/** `audio_speaker.volume` as people read it: "Audio speaker volume". */
export function titleOf(path: string): string {
  const words = path.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const text = clipText(words.join(' '), 100);
  return text === '' ? 'Value' : text.charAt(0).toUpperCase() + text.slice(1);
}
