/**
 * Replaces the rules of calls where the secret arguments of a job cannot be decrypted: each call
 * is refused, as masked values must not be sent.
 */
import type { CallRules } from '../calls/call-rules.js';

export const argumentsLost: Pick<CallRules, 'refuse'> = {
  refuse: () => ({
    part: 'arguments',
    error: {
      code: 'ARGUMENTS_INVALID',
      message:
        'The secret arguments of this job cannot be decrypted: this process has another FLOTILLA_DEVICE_SECRET ' +
        'or data folder than the process that created the job. Create the job again.',
    },
  }),
};
