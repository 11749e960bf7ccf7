/** Why a code does not admit a device, and what the operator does about it. */
import type { Approval } from '@flotilla/registry';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';

export function refuseApproval({ kind }: Exclude<Approval, { readonly kind: 'approved' }>): Refusal {
  switch (kind) {
    case 'NOT_FOUND':
      return refuse('NOT_FOUND', ['code'], 'No device that waits shows this code.');
    case 'ATTEMPTS_EXCEEDED':
      return refuse('LIMIT_EXCEEDED', ['code'], 'Too many wrong codes; try again in ten minutes.');
    case 'BLOCKED':
      return refuse('CONFLICT', ['code'], 'The board that shows this code is blocked. Unblock it, then approve it.');
    case 'DEVICE_ONLINE':
      return refuse(
        'CONFLICT',
        ['confirm'],
        'A device with this id is online with another identity. Approval ends its session and its credentials. ' +
          'Use `confirm: true` only if you are at the new device.',
      );
  }
}
