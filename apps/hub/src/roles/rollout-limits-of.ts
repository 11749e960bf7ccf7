/** Limits of roll-outs from the settings. */
import { defaultRolloutLimits } from '@flotilla/fleet';
import type { RolloutLimits } from '@flotilla/registry';
import type { HubConfig } from '../settings/config.js';

export function rolloutLimitsOf({ downloadsMax }: Pick<HubConfig, 'downloadsMax'>): RolloutLimits {
  return { ...defaultRolloutLimits, downloadsMax };
}
