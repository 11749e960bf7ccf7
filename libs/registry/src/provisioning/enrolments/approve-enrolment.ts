/** Enrols the device that shows a code: attempts, online check and enrolment in one transaction. */
import type { DeviceId } from '@flotilla/mcp';
import type { Queryable, Transaction } from '../../database/database.js';
import { IS_ONLINE } from '../../devices/device-condition.js';
import type { ApprovalRefusal, ApprovalRequest } from '../provisioning.js';
import { countFailure, mayTry } from './approval-attempts.js';
import { blockedAmong } from './blocked-boards.js';
import { enrolDevices } from './enrol-devices.js';
import { lockDevice } from '../credentials/issue-credentials.js';
import { findByCode, IS_CREDENTIAL_USED, isOtherDevice, lockPending, markAdmitted } from './pending-enrolments.js';

type Verdict =
  | { readonly kind: 'approved'; readonly deviceId: DeviceId; readonly hasReplaced: boolean }
  | { readonly kind: ApprovalRefusal };

export async function approveEnrolment(
  transaction: Transaction,
  { code, approver, confirm, name, tags, at }: ApprovalRequest,
): Promise<Verdict> {
  await lockPending(transaction, at);
  if (!(await mayTry(transaction, approver, at))) return { kind: 'ATTEMPTS_EXCEEDED' };
  const pending = await findByCode(transaction, code, at);
  if (pending === undefined) {
    await countFailure(transaction, approver, at);
    return { kind: 'NOT_FOUND' };
  }
  await lockDevice(transaction, pending.deviceId);
  if ((await blockedAmong(transaction, [pending.deviceId], at)).size > 0) return { kind: 'BLOCKED' };
  const { hasReplaced, isOnline, isUnclaimed } = await former(transaction, pending.deviceId, pending.clientUuidHash);
  if (hasReplaced && isOnline && !confirm) return { kind: 'DEVICE_ONLINE' };
  await enrolDevices(transaction, [{ contact: pending, given: { name, tags }, keepsCredential: isUnclaimed }]);
  await markAdmitted(transaction, [pending]);
  return { kind: 'approved', deviceId: pending.deviceId, hasReplaced };
}

async function former(
  transaction: Queryable,
  deviceId: string,
  clientUuidHash: string,
): Promise<{ readonly hasReplaced: boolean; readonly isOnline: boolean; readonly isUnclaimed: boolean }> {
  const [row] = await transaction.query<{ is_other: boolean; is_online: boolean; is_unclaimed: boolean }>(
    {
      text: `SELECT ${isOtherDevice('$2')} AS is_other, ${IS_ONLINE} AS is_online,
               d.client_uuid_hash IS NULL AND NOT ${IS_CREDENTIAL_USED}
                 AND EXISTS (SELECT FROM device_credential c WHERE c.device_id = d.id) AS is_unclaimed
             FROM device d WHERE d.id = $1 FOR UPDATE OF d`,
    },
    [deviceId, clientUuidHash],
  );
  return {
    hasReplaced: row?.is_other ?? false,
    isOnline: row?.is_online ?? false,
    isUnclaimed: row?.is_unclaimed ?? false,
  };
}
