/** Lists of devices in their three orders, each an index and a key to go on from. */
import { z } from 'zod';
import type { CursorKey } from '../database/cursor.js';
import { decodeCursor, toPage } from '../database/cursor.js';
import type { Database } from '../database/database.js';
import { bind } from '../database/sql-parameters.js';
import type { DeviceFilter } from '../device-filter.js';
import type { DeviceOrder, DeviceRow } from '../device-store.js';
import { groundFilter } from '../groups/ground-filter.js';
import type { Page, PageRequest } from '../page.js';
import { listedDeviceCondition } from './device-condition.js';
import { DEVICE_COLUMNS, toDeviceRow } from './device-rows.js';
import type { DeviceRecord } from './device-rows.js';

interface Order {
  readonly key: z.ZodType<CursorKey>;
  readonly orderBy: string;
  /** The condition for what comes after the key. */
  readonly after: (key: CursorKey, parameters: unknown[]) => string;
  readonly keyOf: (record: DeviceRecord) => CursorKey;
}

/** As the index has it: those without a name last, and a row comparison that the index can answer. */
const NAME_ORDER = `(d.name IS NULL), (coalesce(d.name, '')), d.id`;
const LAST_SEEN = `coalesce(d.last_seen_at, '-infinity'::timestamptz)`;

const ORDERS: Readonly<Record<DeviceOrder, Order>> = {
  ID_ASC: {
    key: z.tuple([z.string()]),
    orderBy: 'd.id',
    after: ([id], parameters) => `d.id > ${bind(parameters, id)}`,
    keyOf: ({ id }) => [id],
  },
  NAME_ASC: {
    key: z.tuple([z.union([z.literal(0), z.literal(1)]), z.string(), z.string()]),
    orderBy: NAME_ORDER,
    after: ([isNameless, name, id], parameters) =>
      `(${NAME_ORDER}) > (${bind(parameters, isNameless === 1)}, ${bind(parameters, name)}, ${bind(parameters, id)})`,
    keyOf: ({ id, name }) => [name === null ? 1 : 0, name ?? '', id],
  },
  LAST_SEEN_DESC: {
    key: z.tuple([z.string(), z.string()]),
    orderBy: `${LAST_SEEN} DESC, d.id`,
    after: ([seen, id], parameters) => {
      const at = `${bind(parameters, seen)}::timestamptz`;
      return `(${LAST_SEEN} <= ${at} AND (${LAST_SEEN} < ${at} OR d.id > ${bind(parameters, id)}))`;
    },
    keyOf: ({ id, last_seen_at: seen }) => [seen === null ? '-infinity' : seen.toISOString(), id],
  },
};

export async function pageOfDevices(
  database: Database,
  filter: DeviceFilter | undefined,
  orderName: DeviceOrder,
  request: PageRequest,
): Promise<Page<DeviceRow>> {
  const order = ORDERS[orderName];
  const list = `devices ${orderName}`;
  const key = decodeCursor(list, request, order.key);
  const parameters: unknown[] = [];
  const ground = filter && (await groundFilter(database, filter));
  const conditions = [listedDeviceCondition(ground, parameters), ...(key === undefined ? [] : [order.after(key, parameters)])];
  const records = await database.query<DeviceRecord>(
    {
      // Prepared only without a filter: of those there are six, of filters there is no end.
      ...(filter === undefined ? { name: `${list}${key === undefined ? '' : ' after'}` } : {}),
      text: `SELECT ${DEVICE_COLUMNS} FROM device d WHERE ${conditions.join(' AND ')} ORDER BY ${order.orderBy} LIMIT ${bind(parameters, request.first + 1)}`,
    },
    parameters,
  );
  return toPage(records, request, list, order.keyOf, toDeviceRow);
}
