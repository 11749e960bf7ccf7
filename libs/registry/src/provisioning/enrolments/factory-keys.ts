/**
 * Keys that a factory wrote into chips, by serial number. A serial proves the first device that
 * presented it, and no other.
 */
import type { Queryable } from '../../database/database.js';
import { storableText } from '../../database/json-rows.js';
import type { FactoryKey } from '../provisioning.js';
import { RegistryError } from '../../registry-error.js';

/** Both are fixed by the chip. [xiaozhi §7.4] */
const KEY_BYTES = 32;
const SERIAL_CHARACTERS = 32;
const ROWS_PER_WRITE = 5_000;

/** All or none. Throws RegistryError ARGUMENT_INVALID for a key or serial of another length. */
export async function importFactoryKeys(transaction: Queryable, keys: readonly FactoryKey[]): Promise<number> {
  const bySerial = new Map(keys.map((each) => [checked(each).serial, Buffer.from(each.key)]));
  const rows = [...bySerial];
  for (let start = 0; start < rows.length; start += ROWS_PER_WRITE) {
    const part = rows.slice(start, start + ROWS_PER_WRITE);
    await transaction.query(
      {
        text: `INSERT INTO factory_key (serial, key) SELECT * FROM unnest($1::text[], $2::bytea[])
               ON CONFLICT (serial) DO UPDATE SET key = excluded.key`,
      },
      [part.map(([serial]) => serial), part.map(([, key]) => key)],
    );
  }
  return rows.length;
}

export async function factoryKeyOf(database: Queryable, serial: string): Promise<Uint8Array | undefined> {
  const [row] = await database.query<{ key: Buffer }>(
    { name: 'factory-key', text: 'SELECT key FROM factory_key WHERE serial = $1' },
    [storableText(serial)],
  );
  return row && new Uint8Array(row.key);
}

/**
 * Whether the serial proves this device. An unused serial is bound to a new device, never to a
 * known one, which may belong to another owner.
 */
export async function isSerialOf(
  transaction: Queryable,
  serial: string,
  { deviceId, isKnown }: { readonly deviceId: string; readonly isKnown: boolean },
): Promise<boolean> {
  const [row] = await transaction.query<{ device_id: string | null }>(
    { text: 'SELECT device_id FROM factory_key WHERE serial = $1 FOR UPDATE' },
    [storableText(serial)],
  );
  if (row === undefined || row.device_id !== null || isKnown) return row?.device_id === deviceId;
  await transaction.query({ text: 'UPDATE factory_key SET device_id = $2 WHERE serial = $1' }, [
    storableText(serial),
    deviceId,
  ]);
  return true;
}

function checked(each: FactoryKey): FactoryKey {
  if (each.key.length !== KEY_BYTES || each.serial.length !== SERIAL_CHARACTERS) {
    throw new RegistryError(
      'ARGUMENT_INVALID',
      `A factory key has ${String(KEY_BYTES)} bytes and a serial number of ${String(SERIAL_CHARACTERS)} characters; ` +
        `${JSON.stringify(each.serial.slice(0, 64))} has ${String(each.key.length)} and ${String(each.serial.length)}.`,
    );
  }
  return each;
}
