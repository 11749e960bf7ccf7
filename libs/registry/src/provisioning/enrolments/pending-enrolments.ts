/** Pending enrolments of devices: requests, lists, lookups by code, removal. Admits no device. */
import type { DeviceId } from '@flotilla/mcp';
import { v7 } from 'uuid';
import { z } from 'zod';
import { decodeCursor, toPage } from '../../database/cursor.js';
import type { Queryable, Transaction } from '../../database/database.js';
import { bind } from '../../database/sql-parameters.js';
import { isUuid } from '../../database/uuid-v7.js';
import type { Page, PageRequest } from '../../page.js';
import type { EnrolmentRow, PendingEnrolment } from '../provisioning.js';
import { RegistryError } from '../../registry-error.js';
import { blockedAmong, isBlockedBoard } from './blocked-boards.js';
import type { StoredContact } from './enrol-devices.js';
import { newCode, newSecret } from '../../secrets/secrets.js';

/** A waiting device asks every half minute. Its code ends when it has not asked for this long. */
const CODE_LIFE_MS = 15 * 60_000;
/** The maximum of waiting devices. A flood displaces its own network first. */
const PENDING_MAX = 1_000;
/** A draw hits a used code once in 1,000 times at most. */
const CODE_DRAWS_MAX = 20;
/** Requests, decisions, registrations and removals take turns, across all processes. */
const PENDING_LOCK = 4_607_182_421;
const LIST = 'enrolments';

/** What a board shows, and what it is asked about. */
type Drawn = Pick<PendingEnrolment, 'code' | 'challenge'>;

interface PendingRow extends StoredContact {
  readonly id: string;
}

interface EnrolmentRecord {
  readonly id: string;
  readonly code: string;
  readonly replaces: boolean;
  readonly device_id: string;
  readonly model: string | null;
  readonly firmware_version: string | null;
  readonly remote_address: string | null;
  readonly requested_at: Date;
}

/** A board is connected with the credential of device `d`, or was. */
export const IS_CREDENTIAL_USED =
  '(EXISTS (SELECT FROM device_credential c WHERE c.device_id = d.id AND c.used_at IS NOT NULL))';

/** Another Client-Id, or a board that uses the credential without one, holds device `d`. */
export function isOtherDevice(clientUuidHash: string): string {
  return `coalesce(d.client_uuid_hash <> ${clientUuidHash}, ${IS_CREDENTIAL_USED})`;
}

/**
 * Comes first in a transaction that changes pending enrolments. Only admissions need no lock: they
 * end the waiting of their devices. Removes outdated enrolments.
 */
export async function lockPending(transaction: Queryable, at: number): Promise<void> {
  await transaction.query({ text: 'SELECT pg_advisory_xact_lock($1)' }, [PENDING_LOCK]);
  await transaction.query({ text: 'DELETE FROM enrolment WHERE last_request_at <= to_timestamp($1::float8 / 1000)' }, [
    at - CODE_LIFE_MS,
  ]);
}

/**
 * The pending enrolments of the devices in their order, created where missing. Needs the lock; no
 * device twice.
 */
export async function addPending(
  transaction: Queryable,
  contacts: readonly StoredContact[],
): Promise<readonly PendingEnrolment[]> {
  const at = Math.max(...contacts.map((contact) => contact.at));
  const ids = contacts.map(({ deviceId }) => deviceId);
  const blocked = await blockedAmong(transaction, ids, at);
  const pending: PendingEnrolment[] = [];
  for (const contact of contacts) {
    const asked = (await askAgain(transaction, contact)) ?? (await ask(transaction, contact));
    pending.push({ ...asked, isBlocked: blocked.has(contact.deviceId) });
  }
  await transaction.query(EVICT, [PENDING_MAX, at]);
  return pending;
}

const ASK_AGAIN = {
  name: 'enrolment-ask-again',
  text: `UPDATE enrolment SET last_request_at = to_timestamp($3::float8 / 1000), model = coalesce($4, model),
           firmware_version = coalesce($5, firmware_version), remote_address = coalesce($6, remote_address),
           remote_network = coalesce($7, remote_network)
         WHERE device_id = $1 AND client_uuid_hash = $2 AND admitted_at IS NULL RETURNING code, challenge`,
};

const ASK = {
  name: 'enrolment-ask',
  text: `INSERT INTO enrolment (id, code, challenge, device_id, client_uuid_hash, model, firmware_version,
           remote_address, remote_network, requested_at, last_request_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, to_timestamp($10::float8 / 1000),
           to_timestamp($10::float8 / 1000))`,
};

/**
 * $1 maximum, $2 now. Removes blocked boards, then the oldest requests of the largest networks:
 * rows are sorted by their place within their network.
 */
const EVICT = {
  name: 'enrolment-evict',
  text: `DELETE FROM enrolment WHERE id IN (
           SELECT id FROM (
             SELECT id, last_request_at, row_number() OVER (
               PARTITION BY coalesce(remote_network, remote_address, '')
               ORDER BY last_request_at DESC, id DESC) AS place,
               ${isBlockedBoard('e.device_id', '$2')} AS is_blocked
             FROM enrolment e WHERE admitted_at IS NULL) AS waiting
           ORDER BY is_blocked, place, last_request_at DESC, id DESC OFFSET $1)`,
};

async function askAgain(transaction: Queryable, contact: StoredContact): Promise<Drawn | undefined> {
  const { deviceId, clientUuidHash, at, model, firmwareVersion, remoteAddress, remoteNetwork } = contact;
  const [known] = await transaction.query<{ code: string; challenge: string }>(ASK_AGAIN, [
    deviceId,
    clientUuidHash,
    at,
    model,
    firmwareVersion,
    remoteAddress,
    remoteNetwork,
  ]);
  return known;
}

async function ask(transaction: Queryable, contact: StoredContact): Promise<Drawn> {
  const { deviceId, clientUuidHash, at, model, firmwareVersion, remoteAddress, remoteNetwork } = contact;
  const pending = { code: await drawCode(transaction), challenge: newSecret() };
  await transaction.query(ASK, [
    v7({ msecs: at }),
    pending.code,
    pending.challenge,
    deviceId,
    clientUuidHash,
    model,
    firmwareVersion,
    remoteAddress,
    remoteNetwork,
    at,
  ]);
  return pending;
}

const TAKEN = { name: 'enrolment-code-taken', text: 'SELECT FROM enrolment WHERE code = $1 AND admitted_at IS NULL' };

async function drawCode(transaction: Queryable): Promise<string> {
  for (let draws = 0; draws < CODE_DRAWS_MAX; draws += 1) {
    const code = newCode();
    const taken = await transaction.query(TAKEN, [code]);
    if (taken.length === 0) return code;
  }
  throw new RegistryError('OVERLOADED', 'No free enrolment code was found.');
}

/** The challenge of a device that waits; undefined if it does not. */
export async function pendingChallenge(
  database: Queryable,
  { deviceId, clientUuidHash, at }: StoredContact,
): Promise<string | undefined> {
  const [row] = await database.query<Pick<Drawn, 'challenge'>>(
    {
      name: 'enrolment-challenge',
      text: `SELECT challenge FROM enrolment WHERE device_id = $1 AND client_uuid_hash = $2 AND admitted_at IS NULL
               AND last_request_at > to_timestamp($3::float8 / 1000)`,
    },
    [deviceId, clientUuidHash, at - CODE_LIFE_MS],
  );
  return row?.challenge;
}

/** The enrolment with this code. Needs the lock. */
export async function findByCode(transaction: Queryable, code: string, at: number): Promise<PendingRow | undefined> {
  const [row] = await transaction.query<EnrolmentRecord & { client_uuid_hash: string }>(
    { text: 'SELECT * FROM enrolment WHERE code = $1 AND admitted_at IS NULL' },
    [code],
  );
  return (
    row && {
      id: row.id,
      deviceId: row.device_id as DeviceId,
      clientUuidHash: row.client_uuid_hash,
      model: row.model ?? undefined,
      firmwareVersion: row.firmware_version ?? undefined,
      remoteAddress: row.remote_address ?? undefined,
      at,
    }
  );
}

/**
 * One of these devices about which only a caller with the whole fleet decides: it waits for an
 * approval, was removed, is blocked, or is a board of a former server.
 */
export async function undecidedAmong(
  transaction: Queryable,
  deviceIds: readonly string[],
  at: number,
): Promise<string | undefined> {
  const [row] = await transaction.query<{ id: string }>(
    {
      text: `SELECT i.id FROM unnest($1::text[]) AS i(id)
             WHERE EXISTS (SELECT FROM removed_device r WHERE r.device_id = i.id)
               OR EXISTS (SELECT FROM moving_board m WHERE m.device_id = i.id)
               OR ${isBlockedBoard('i.id', '$3')}
               OR EXISTS (SELECT FROM enrolment e WHERE e.device_id = i.id AND e.admitted_at IS NULL
                 AND e.last_request_at > to_timestamp($2::float8 / 1000))
             LIMIT 1`,
    },
    [deviceIds, at - CODE_LIFE_MS, at],
  );
  return row?.id;
}

/** Ends the waiting of these devices, which are admitted now. */
export async function markAdmitted(transaction: Queryable, contacts: readonly StoredContact[]): Promise<void> {
  const [first] = contacts;
  if (first === undefined) return;
  await transaction.query(
    {
      name: 'mark-enrolments-admitted',
      text: `UPDATE enrolment e SET admitted_at = to_timestamp($3::float8 / 1000),
               last_request_at = to_timestamp($3::float8 / 1000)
             FROM unnest($1::text[], $2::text[]) AS i(device_id, client_uuid_hash)
             WHERE e.device_id = i.device_id AND e.client_uuid_hash = i.client_uuid_hash AND e.admitted_at IS NULL`,
    },
    [contacts.map(({ deviceId }) => deviceId), contacts.map(({ clientUuidHash }) => clientUuidHash), first.at],
  );
}

/**
 * Resolves to the device; undefined where there is no such pending enrolment. Waits for an approval
 * that has found it, so only one of the two succeeds.
 */
export async function rejectPending(transaction: Transaction, id: string, at: number): Promise<DeviceId | undefined> {
  if (!isUuid(id)) return undefined;
  await lockPending(transaction, at);
  const where = { id, admittedAt: null };
  return transaction.ask(async ({ enrolment }) => {
    const found = await enrolment.findFirst({ where, select: { deviceId: true } });
    const { count } = await enrolment.deleteMany({ where });
    return count === 0 ? undefined : (found?.deviceId as DeviceId | undefined);
  });
}

/** Devices that have waited longest come first. */
export async function pageOfPending(
  database: Queryable,
  request: PageRequest,
  at: number,
): Promise<Page<EnrolmentRow>> {
  const key = decodeCursor(LIST, request, z.tuple([z.uuid()]));
  const parameters: unknown[] = [at - CODE_LIFE_MS, at];
  const after = key === undefined ? '' : `AND e.id > ${bind(parameters, key[0])}`;
  const records = await database.query<EnrolmentRecord>(
    {
      text: `SELECT e.id, e.code, e.device_id, e.model, e.firmware_version, e.remote_address, e.requested_at,
               ${isOtherDevice('e.client_uuid_hash')} AS replaces
             FROM enrolment e LEFT JOIN device d ON d.id = e.device_id
             WHERE e.admitted_at IS NULL AND e.last_request_at > to_timestamp($1::float8 / 1000)
               AND NOT ${isBlockedBoard('e.device_id', '$2')} ${after}
             ORDER BY e.id LIMIT ${bind(parameters, request.first + 1)}`,
    },
    parameters,
  );
  return toPage(records, request, LIST, ({ id }) => [id], toEnrolmentRow);
}

function toEnrolmentRow(record: EnrolmentRecord): EnrolmentRow {
  return {
    id: record.id,
    code: record.code,
    replaces: record.replaces,
    deviceId: record.device_id as DeviceId,
    model: record.model ?? undefined,
    firmwareVersion: record.firmware_version ?? undefined,
    remoteAddress: record.remote_address ?? undefined,
    requestedAt: record.requested_at.getTime(),
  };
}
