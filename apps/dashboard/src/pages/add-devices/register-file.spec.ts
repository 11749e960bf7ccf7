import { parseDevices } from '@flotilla/client/devices-csv';
import { describe, expect, it } from 'vitest';
import { batchMax } from './check-file';
import { linesLeft, noneRegistered, type RegisterBatch, registerFile, type Registration } from './register-file';

const linesOf = (count: number) =>
  parseDevices(`deviceId\n${Array.from({ length: count }, (_, index) => `device-${index}`).join('\n')}\n`).lines;
const accept: RegisterBatch = (batch) =>
  Promise.resolve(batch.map(({ device }) => ({ deviceId: device.deviceId ?? '', credential: null })));

/** A hub that refuses all batches after the first one. */
function refusingHub() {
  let batches = 0;
  const send: RegisterBatch = (batch) => (batches++ === 0 ? accept(batch) : Promise.resolve(undefined));
  return send;
}

describe('the registration of a file', () => {
  it('keeps the devices of the first batch when the second is refused', async () => {
    const lines = linesOf(batchMax + 2);
    const seen: Registration[] = [];
    expect(await registerFile(noneRegistered, lines, refusingHub(), (now) => seen.push(now))).toBe(false);
    expect(seen.at(-1)?.registered).toHaveLength(batchMax);
    expect(linesLeft(seen.at(-1) ?? noneRegistered, lines)).toEqual(lines.slice(batchMax));
  });

  it('continues after the lines that are registered', async () => {
    const lines = linesOf(batchMax + 2);
    const seen: Registration[] = [noneRegistered];
    const onProgress = (now: Registration) => seen.push(now);
    await registerFile(noneRegistered, lines, refusingHub(), onProgress);
    expect(await registerFile(seen.at(-1) ?? noneRegistered, lines, accept, onProgress)).toBe(true);
    expect(new Set(seen.at(-1)?.registered.map(({ deviceId }) => deviceId)).size).toBe(batchMax + 2);
  });

  it('keeps what is registered when another file is chosen, and begins that at its first line', async () => {
    const [first, second] = [linesOf(batchMax + 1), linesOf(3)];
    let now = noneRegistered;
    const onProgress = (registration: Registration) => (now = registration);
    await registerFile(now, first, refusingHub(), onProgress);
    expect(linesLeft(now, second)).toBe(second);
    await registerFile(now, second, accept, onProgress);
    expect(now.registered).toHaveLength(batchMax + 3);
  });
});
