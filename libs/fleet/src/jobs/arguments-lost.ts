/**
 * Replaces the gate where the secret arguments of a job cannot be decrypted: each call is refused,
 * as masked values must not be sent.
 */
import type { ToolGate } from '../calls/tool-gate.js';

export const argumentsLost: Pick<ToolGate, 'refuse'> = {
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
