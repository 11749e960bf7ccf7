/** Settings of the vision model that describes photos. */
import type { z } from 'zod';
import { checked, headerLine, optionalText } from './setting-kinds.js';

export const visionSettings = {
  FLOTILLA_VISION_URL: checked(visionUrlProblem),
  FLOTILLA_VISION_KEY: headerLine,
  FLOTILLA_VISION_MODEL: optionalText,
};

/** The model that describes photos. Without one, photos are only stored. */
export interface VisionConfig {
  readonly url: string;
  readonly key: string | undefined;
  readonly model: string;
}

type Values = z.infer<z.ZodObject<typeof visionSettings>>;

export function visionOf({
  FLOTILLA_VISION_URL: url,
  FLOTILLA_VISION_KEY: key,
  FLOTILLA_VISION_MODEL: model,
}: Values): VisionConfig | undefined {
  return url === undefined || model === undefined ? undefined : { url, key, model };
}

export function visionContradictions({
  FLOTILLA_VISION_URL: url,
  FLOTILLA_VISION_KEY: key,
  FLOTILLA_VISION_MODEL: model,
}: Values): string[] {
  if (url !== undefined && model === undefined)
    return ['FLOTILLA_VISION_URL needs FLOTILLA_VISION_MODEL, the name of the model to ask.'];
  if (url === undefined && (key !== undefined || model !== undefined))
    return ['FLOTILLA_VISION_KEY and FLOTILLA_VISION_MODEL need a vision model. Set FLOTILLA_VISION_URL, too.'];
  return [];
}

/** A request cannot have a user or a password in its URL. */
function visionUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return 'must be a URL that begins with http: or https:';
  return url.username !== '' || url.password !== ''
    ? 'must have no user and no password. Set FLOTILLA_VISION_KEY to the key of the model'
    : undefined;
}
