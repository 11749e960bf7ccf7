/**
 * The flash of all devices in a file between runs. A hub issues a secret only once, so a device
 * that lost it could never connect again.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { DeviceFlash } from '@flotilla/simulated-device';
import { z } from 'zod';
import { readJson } from './command/read-json.js';

/** Changes are written this much later, together, ms. */
const WRITE_AFTER_MS = 500;
const PRIVATE_MODE = 0o600;

const flashSchema = z.object({
  uuid: z.uuid(),
  settings: z.record(z.string(), z.union([z.string(), z.number()])),
  firmware: z.object({ version: z.string(), elfSha256: z.string().optional() }).optional(),
});
const fileSchema = z.record(z.string(), flashSchema);

export class FlashFile {
  readonly #flashes: Map<string, DeviceFlash>;
  #timer: NodeJS.Timeout | undefined;
  #hasChanged = false;
  #isProblemKnown = false;

  /** Throws if the file exists and was not written by the simulator. `warn` gets a sentence. */
  constructor(
    private readonly file: string,
    private readonly warn: (problem: string) => void,
  ) {
    this.#flashes = new Map(Object.entries(readFlashes(file)));
  }

  of(deviceId: string): DeviceFlash | undefined {
    return this.#flashes.get(deviceId);
  }

  keep(deviceId: string, flash: DeviceFlash): void {
    this.#flashes.set(deviceId, flash);
    this.#hasChanged = true;
    this.#timer ??= setTimeout(() => this.save(), WRITE_AFTER_MS);
  }

  /** Writes what has changed. After a failure the devices go on, and the next call tries again. */
  save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#hasChanged) return;
    try {
      this.#write();
      this.#hasChanged = false;
      this.#isProblemKnown = false;
    } catch (error) {
      if (!this.#isProblemKnown)
        this.warn(
          `The flash of the devices cannot be written: ${messageOf(error)}. ` +
            'Make room or give another --data-dir, or these devices cannot connect in the next run.',
        );
      this.#isProblemKnown = true;
    }
  }

  #write(): void {
    mkdirSync(path.dirname(this.file), { recursive: true });
    writeFileSync(`${this.file}.new`, JSON.stringify(Object.fromEntries(this.#flashes)), { mode: PRIVATE_MODE });
    renameSync(`${this.file}.new`, this.file);
  }
}

function readFlashes(file: string): z.infer<typeof fileSchema> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new Error(`${file} cannot be read: ${messageOf(error)}. Remove it or give another --data-dir.`, {
      cause: error,
    });
  }
  const parsed = fileSchema.safeParse(readJson(text));
  if (!parsed.success)
    throw new Error(`${file} does not hold the flash of simulated devices: remove it, and they come as new ones.`);
  return parsed.data;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
