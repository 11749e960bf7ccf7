/**
 * All kinds, in the order in which they are created: later ones name earlier ones. To add a kind,
 * write it in `kinds` and enter it here.
 */
import type { Kind } from './kind.js';
import { alertRules } from './kinds/alert-rules.js';
import { apiKeys } from './kinds/api-keys.js';
import { desiredStates } from './kinds/desired-states.js';
import { deviceGroups } from './kinds/device-groups.js';
import { enrolmentLinks } from './kinds/enrolment-links.js';
import { firmwareImages } from './kinds/firmware-images.js';
import { notificationChannels } from './kinds/notification-channels.js';
import { recordingRules } from './kinds/recording-rules.js';
import { recurringJobs } from './kinds/recurring-jobs.js';
import { toolPolicies } from './kinds/tool-policies.js';
import { webhooks } from './kinds/webhooks.js';

export const kinds: readonly Kind[] = [
  deviceGroups,
  toolPolicies,
  firmwareImages,
  desiredStates,
  recurringJobs,
  enrolmentLinks,
  webhooks,
  apiKeys,
  recordingRules,
  notificationChannels,
  alertRules,
];
