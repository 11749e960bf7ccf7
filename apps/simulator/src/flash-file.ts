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

  /** Throws if the file exists and was not written by the simulator. */
  constructor(private readonly file: string) {
    this.#flashes = new Map(Object.entries(readFlashes(file)));
  }

  of(deviceId: string): DeviceFlash | undefined {
    return this.#flashes.get(deviceId);
  }

  keep(deviceId: string, flash: DeviceFlash): void {
    this.#flashes.set(deviceId, flash);
    this.#timer ??= setTimeout(() => this.save(), WRITE_AFTER_MS);
  }

  /** Writes what has changed. */
  save(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
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
    throw error;
  }
  const parsed = fileSchema.safeParse(readJson(text));
  if (!parsed.success)
    throw new Error(`${file} does not hold the flash of simulated devices: remove it, and they come as new ones.`);
  return parsed.data;
}
