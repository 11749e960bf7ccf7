/**
 * Parses a CSV file of devices, in Node and in browsers: checks every line before anything is sent,
 * and reports errors by line.
 */
import { parse } from 'csv-parse/browser/esm/sync';
import type { Dialect, RegisterDeviceInput, TransportKind } from '../generated/schema-types.js';

export interface DeviceLine {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly device: RegisterDeviceInput;
}

/** What is wrong with a line. A console translates the code; `value` belongs into its text. */
export interface LineProblem {
  readonly code: 'idMissing' | 'dialect' | 'transport' | 'addressMissing' | 'until' | 'repeated';
  readonly value: string;
  /** In English. */
  readonly message: string;
}

export interface LineError extends LineProblem {
  readonly line: number;
}

/** The file as a whole is not a list of devices. */
export class DeviceFileError extends Error {
  override readonly name = 'DeviceFileError';
}

export const deviceColumns = [
  'deviceId',
  'name',
  'tags',
  'dialect',
  'transport',
  'address',
  'clientId',
  'admitWithoutCodeUntil',
] as const;
// As records: a missing or an unknown value does not compile.
const dialects = Object.keys({ XIAOZHI: true, MCPU: true } satisfies Record<Dialect, true>);
const transports = Object.keys({ MQTT: true, WEBSOCKET: true, TCP: true } satisfies Record<TransportKind, true>);

/** RFC 3339 with a zone, as the API requires. Without a zone, the local zone would apply. */
const dateTimePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Sets trust on first use for each xiaozhi device without another proof in the file. */
export function trusting(device: RegisterDeviceInput, admitWithoutCodeUntil: string | undefined): RegisterDeviceInput {
  const isOther = device.dialect !== 'XIAOZHI' || (device.clientId ?? device.admitWithoutCodeUntil ?? '') !== '';
  return admitWithoutCodeUntil === undefined || isOther ? device : { ...device, admitWithoutCodeUntil };
}

/** Throws DeviceFileError if the text is not CSV, or its first line names other columns. */
export function parseDevices(source: string): {
  readonly lines: readonly DeviceLine[];
  readonly errors: readonly LineError[];
} {
  const lines: DeviceLine[] = [];
  const errors: LineError[] = [];
  const seen = new Map<string, number>();
  for (const { record, info } of readRecords(source)) {
    const { lines: line } = info;
    const read = readDevice(record);
    if ('code' in read) {
      errors.push({ line, ...read });
      continue;
    }
    const key = read.deviceId.toLowerCase();
    const first = seen.get(key);
    if (first === undefined) lines.push({ line, device: read });
    else errors.push({ line, ...repeated(read.deviceId, first) });
    seen.set(key, first ?? line);
  }
  return { lines, errors };
}

interface CsvRecord {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

function readRecords(source: string): readonly CsvRecord[] {
  try {
    return parse(source, {
      bom: true,
      trim: true,
      info: true,
      skip_empty_lines: true,
      relax_column_count: false,
      columns: (head: string[]) => knownColumns(head),
    }) as unknown as readonly CsvRecord[];
  } catch (error) {
    throw error instanceof DeviceFileError
      ? error
      : new DeviceFileError(
          `The file is not valid CSV: ${error instanceof Error ? error.message : String(error)}. Fix the file.`,
        );
  }
}

function knownColumns(head: string[]): string[] {
  const unknown = head.filter((name) => !(deviceColumns as readonly string[]).includes(name));
  if (unknown.length > 0 || !head.includes('deviceId'))
    throw new DeviceFileError(
      `The first line must name the columns: deviceId, and any of ${deviceColumns.slice(1).join(', ')}.` +
        (unknown.length > 0 ? ` There is no column "${unknown[0]}".` : ''),
    );
  const twice = head.find((name, index) => head.indexOf(name) !== index);
  if (twice !== undefined) throw new DeviceFileError(`The first line names the column "${twice}" twice. Name it once.`);
  return head;
}

/** The device of a record, or its problem. The hub checks all other rules. */
function readDevice({
  deviceId = '',
  name = '',
  tags = '',
  dialect = '',
  transport = '',
  address = '',
  clientId = '',
  admitWithoutCodeUntil = '',
}: CsvRecord['record']): RegisterDeviceInput | LineProblem {
  if (deviceId === '') return problem('idMissing', '', 'The deviceId is missing. Add it.');
  const family = (dialect || 'XIAOZHI').toUpperCase();
  if (!dialects.includes(family))
    return problem('dialect', dialect, `The dialect must be ${dialects.join(' or ')}, not "${dialect}".`);
  const kind = transport.toUpperCase();
  if (kind !== '' && !transports.includes(kind))
    return problem(
      'transport',
      transport,
      `The transport must be ${transports.join(', ')} or empty, not "${transport}".`,
    );
  // One that comes over MQTT or WebSocket has none. [mcpu §1.2]
  if (family === 'MCPU' && (kind === '' || kind === 'TCP') && address === '')
    return problem('addressMissing', '', 'An MCPU device over TCP needs its address as host:port.');
  if (admitWithoutCodeUntil !== '' && !isDateTime(admitWithoutCodeUntil))
    return problem(
      'until',
      admitWithoutCodeUntil,
      'admitWithoutCodeUntil must be a time with a zone, such as 2027-04-30T18:00:00Z, ' +
        `not "${admitWithoutCodeUntil}".`,
    );
  const given = { name, transport: kind, address, clientId, admitWithoutCodeUntil };
  return {
    deviceId,
    dialect: family as Dialect,
    tags: tags
      .split(';')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
  };
}

function isDateTime(text: string): boolean {
  return dateTimePattern.test(text) && !Number.isNaN(Date.parse(text));
}

function repeated(deviceId: string, first: number): LineProblem {
  return problem('repeated', String(first), `"${deviceId}" is already on line ${first}. Remove one of the lines.`);
}

function problem(code: LineProblem['code'], value: string, message: string): LineProblem {
  return { code, value, message };
}
