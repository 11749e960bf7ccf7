/** Registers the devices of a file, batch by batch, and keeps what each batch has brought. */
import type { DeviceLine } from '@flotilla/client/devices-csv';
import { batchesOf } from './check-file';

export interface RegisteredLine {
  readonly deviceId: string;
  /** The hub shows it only in the answer to the registration. */
  readonly credential: unknown;
  /** The answer was lost with a credential that the device needs. */
  readonly credentialLost?: true;
}

export interface Registration {
  /** The file that was registered last, and how many of its lines are. */
  readonly of: readonly DeviceLine[] | undefined;
  readonly count: number;
  /** Of all files: their credentials can still be saved. */
  readonly registered: readonly RegisteredLine[];
}

export const noneRegistered: Registration = { of: undefined, count: 0, registered: [] };

export interface RegisteringHub {
  /** Undefined where the hub refused the batch or did not answer. */
  register(batch: readonly DeviceLine[]): Promise<readonly RegisteredLine[] | undefined>;
  /** Whether all devices of the batch are registered. Undefined where the hub did not answer. */
  isRegistered(batch: readonly DeviceLine[]): Promise<boolean | undefined>;
}

export function linesLeft({ of, count }: Registration, lines: readonly DeviceLine[]): readonly DeviceLine[] {
  return of === lines ? lines.slice(count) : lines;
}

/**
 * `onProgress` gets what is registered after each batch. True if no line is left. A batch is
 * registered as a whole, so the hub can say what happened to one whose answer was lost.
 */
export async function registerFile(
  { former, isUnanswered }: { readonly former: Registration; readonly isUnanswered: boolean },
  lines: readonly DeviceLine[],
  hub: RegisteringHub,
  onProgress: (registration: Registration) => void,
): Promise<boolean> {
  const left = linesLeft(former, lines);
  let { registered } = former;
  let count = lines.length - left.length;
  let isInDoubt = isUnanswered && former.of === lines;
  onProgress({ of: lines, count, registered });
  for (const batch of batchesOf(left)) {
    const isThere = isInDoubt ? await hub.isRegistered(batch) : false;
    if (isThere === undefined) return false;
    isInDoubt = false;
    const added = isThere ? batch.map(withoutAnswer) : await hub.register(batch);
    if (added === undefined) return false;
    registered = [...registered, ...added];
    count += batch.length;
    onProgress({ of: lines, count, registered });
  }
  return true;
}

interface RegistrationAnswer {
  /** Empty for a viewer without DEVICES_READ. */
  readonly devices: readonly { readonly id: string }[];
  readonly credentials: readonly unknown[];
}

export function answeredLines(
  batch: readonly DeviceLine[],
  { devices, credentials }: RegistrationAnswer,
): readonly RegisteredLine[] {
  return batch.map(({ device }, index) => ({
    deviceId: devices[index]?.id ?? device.deviceId ?? '',
    credential: credentials[index] ?? null,
  }));
}

/** xiaozhi devices get theirs at their first check, and a device that the hub dials has none. */
function withoutAnswer({ device: { deviceId, dialect, address } }: DeviceLine): RegisteredLine {
  const isNeeded = dialect === 'MCPU' && !address;
  return { deviceId: deviceId ?? '', credential: null, ...(isNeeded && { credentialLost: true }) };
}
