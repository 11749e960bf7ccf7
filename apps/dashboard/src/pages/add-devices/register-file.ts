/** Registers the devices of a file, batch by batch, and keeps what each batch has brought. */
import type { DeviceLine } from '@flotilla/client/devices-csv';
import { batchesOf } from './check-file';

export interface RegisteredLine {
  readonly deviceId: string;
  /** The hub shows it only in the answer to the registration. */
  readonly credential: unknown;
}

export interface Registration {
  /** The file that was registered last, and how many of its lines are. */
  readonly of: readonly DeviceLine[] | undefined;
  readonly count: number;
  /** Of all files: their credentials can still be saved. */
  readonly registered: readonly RegisteredLine[];
}

export const noneRegistered: Registration = { of: undefined, count: 0, registered: [] };

/** Undefined where the hub refused the batch or did not answer. */
export type RegisterBatch = (batch: readonly DeviceLine[]) => Promise<readonly RegisteredLine[] | undefined>;

export function linesLeft({ of, count }: Registration, lines: readonly DeviceLine[]): readonly DeviceLine[] {
  return of === lines ? lines.slice(count) : lines;
}

/** `onProgress` gets what is registered after each batch. True if no line is left. */
export async function registerFile(
  former: Registration,
  lines: readonly DeviceLine[],
  send: RegisterBatch,
  onProgress: (registration: Registration) => void,
): Promise<boolean> {
  const left = linesLeft(former, lines);
  let { registered } = former;
  let count = lines.length - left.length;
  for (const batch of batchesOf(left)) {
    const added = await send(batch);
    if (added === undefined) return false;
    registered = [...registered, ...added];
    count += batch.length;
    onProgress({ of: lines, count, registered });
  }
  return true;
}
