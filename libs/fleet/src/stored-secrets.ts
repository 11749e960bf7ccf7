/**
 * Arguments that are sent back as they were shown, with masked secrets, stand for those that are
 * stored. Another person may do that for the same devices only: their device could show the secret.
 */
import { isDeepStrictEqual } from 'node:util';
import type { DeviceFilter } from '@flotilla/registry';
import type { Actor } from './actor.js';
import { refuse } from './refusal.js';
import type { Refusal } from './refusal.js';

interface Saved {
  readonly savedById: string;
  readonly devices: DeviceFilter;
}

/** Why the stored secrets may not be sent to `devices`, undefined if they may. */
export function refuseStoredSecrets(former: Saved, devices: DeviceFilter, actor: Actor): Refusal | undefined {
  if (former.savedById === actor.id || isDeepStrictEqual(stored(devices), stored(former.devices))) return undefined;
  return refuse(
    'INVALID',
    ['input', 'devices'],
    'Another person saved secret arguments for other devices. Send the arguments again, with the secrets.',
  );
}

/** As PostgreSQL has it, without undefined members. */
function stored(devices: DeviceFilter): unknown {
  return JSON.parse(JSON.stringify(devices));
}
