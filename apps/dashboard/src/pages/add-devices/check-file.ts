/** Checks a file of devices: first alone, then by the hub. Nothing is registered. */
import { DeviceFileError, type DeviceLine, type LineProblem, parseDevices } from '@flotilla/client/devices-csv';

export interface FileProblem {
  /** Line of the file, from 1. */
  readonly line: number;
  /** Problems that the console knows; else the words of the hub say it. */
  readonly code?: LineProblem['code'];
  readonly value?: string;
  readonly message: string;
}

export type CheckedFile =
  | { readonly kind: 'checked'; readonly lines: readonly DeviceLine[]; readonly problems: readonly FileProblem[] }
  /** The file as a whole is not a list of devices. */
  | { readonly kind: 'unreadable'; readonly message: string }
  | { readonly kind: 'tooLong'; readonly count: number };

/** A problem of the hub, by the place in what was sent. */
interface HubProblem {
  readonly message: string;
  readonly path: readonly string[];
}

export type AskHub = (batch: readonly DeviceLine[]) => Promise<readonly HubProblem[]>;

/** What the hub takes at once. */
export const batchMax = 1_000;
/** Longer files are for the command line, which continues after a failure. */
export const devicesMax = 5_000;

export async function checkFile(source: string, ask: AskHub): Promise<CheckedFile> {
  let parsed: ReturnType<typeof parseDevices>;
  try {
    parsed = parseDevices(source);
  } catch (error) {
    if (error instanceof DeviceFileError) return { kind: 'unreadable', message: error.message };
    throw error;
  }
  const { lines, errors } = parsed;
  if (lines.length > devicesMax) return { kind: 'tooLong', count: lines.length };
  const problems: FileProblem[] = [...errors];
  for (const batch of batchesOf(lines))
    for (const { message, path } of await ask(batch))
      problems.push({ line: batch[Number(path[1])]?.line ?? batch[0]?.line ?? 1, message });
  return { kind: 'checked', lines, problems: problems.sort((one, other) => one.line - other.line) };
}

/** Checks of files of which only the one that was chosen last counts. */
export class FileChecks {
  #turn = 0;

  /** Undefined if another file was chosen, or none, before the check has ended. */
  async check(source: Promise<string>, ask: AskHub): Promise<CheckedFile | undefined> {
    const mine = ++this.#turn;
    try {
      const checked = await checkFile(await source, ask);
      return mine === this.#turn ? checked : undefined;
    } catch (error) {
      if (mine !== this.#turn) return undefined;
      throw error;
    }
  }

  /** No check that has begun counts any more. */
  drop(): void {
    this.#turn += 1;
  }
}

export function batchesOf(lines: readonly DeviceLine[]): readonly (readonly DeviceLine[])[] {
  const count = Math.ceil(lines.length / batchMax);
  return Array.from({ length: count }, (_, index) => lines.slice(index * batchMax, (index + 1) * batchMax));
}
