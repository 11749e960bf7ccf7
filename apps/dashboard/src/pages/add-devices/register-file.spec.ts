import { type DeviceLine, parseDevices } from '@flotilla/client/devices-csv';
import { describe, expect, it } from 'vitest';
import { batchMax } from './check-file';
import {
  answeredLines,
  linesLeft,
  noneRegistered,
  registerFile,
  type RegisteringHub,
  type Registration,
} from './register-file';

const linesOf = (count: number) =>
  parseDevices(`deviceId\n${Array.from({ length: count }, (_, index) => `device-${index}`).join('\n')}\n`).lines;
const answerTo = (batch: readonly DeviceLine[]) =>
  batch.map(({ device }) => ({ deviceId: device.deviceId ?? '', credential: null }));
const asked = (former: Registration, isUnanswered = false) => ({ former, isUnanswered });
const accepting: RegisteringHub = {
  register: (batch) => Promise.resolve(answerTo(batch)),
  isRegistered: () => Promise.resolve(false),
};

/** A hub that refuses all batches after the first one. */
function refusingHub(): RegisteringHub {
  let batches = 0;
  const register: RegisteringHub['register'] = (batch) =>
    Promise.resolve(batches++ === 0 ? answerTo(batch) : undefined);
  return { ...accepting, register };
}

describe('the registration of a file', () => {
  it('has each credential, also for a viewer who may not read devices', () => {
    const credentials = ['one', null];
    const devices = [{ id: 'device-0' }, { id: 'device-1' }];
    const kept = [
      { deviceId: 'device-0', credential: 'one' },
      { deviceId: 'device-1', credential: null },
    ];
    expect(answeredLines(linesOf(2), { devices, credentials })).toEqual(kept);
    expect(answeredLines(linesOf(2), { devices: [], credentials })).toEqual(kept);
  });

  it('keeps the devices of the first batch when the second is refused', async () => {
    const lines = linesOf(batchMax + 2);
    const seen: Registration[] = [];
    expect(await registerFile(asked(noneRegistered), lines, refusingHub(), (now) => seen.push(now))).toBe(false);
    expect(seen.at(-1)?.registered).toHaveLength(batchMax);
    expect(linesLeft(seen.at(-1) ?? noneRegistered, lines)).toEqual(lines.slice(batchMax));
  });

  it('continues after the lines that are registered', async () => {
    const lines = linesOf(batchMax + 2);
    const seen: Registration[] = [noneRegistered];
    const onProgress = (now: Registration) => seen.push(now);
    await registerFile(asked(noneRegistered), lines, refusingHub(), onProgress);
    expect(await registerFile(asked(seen.at(-1) ?? noneRegistered), lines, accepting, onProgress)).toBe(true);
    expect(new Set(seen.at(-1)?.registered.map(({ deviceId }) => deviceId)).size).toBe(batchMax + 2);
  });

  it('keeps what is registered when another file is chosen, and begins that at its first line', async () => {
    const [first, second] = [linesOf(batchMax + 1), linesOf(3)];
    let now = noneRegistered;
    const onProgress = (registration: Registration) => (now = registration);
    await registerFile(asked(now), first, refusingHub(), onProgress);
    expect(linesLeft(now, second)).toBe(second);
    await registerFile(asked(now), second, accepting, onProgress);
    expect(now.registered).toHaveLength(batchMax + 3);
  });

  it('goes on after a batch whose answer was lost, and says which credentials were lost with it', async () => {
    const { lines } = parseDevices(
      'deviceId,dialect,transport,address\na,,,\nb,MCPU,MQTT,\nc,MCPU,TCP,10.0.0.9:5000\n',
    );
    const known = new Set<string>();
    const sent: number[] = [];
    const hub: RegisteringHub = {
      register: (batch) => {
        sent.push(batch.length);
        for (const { deviceId } of answerTo(batch)) known.add(deviceId);
        return Promise.resolve(undefined);
      },
      isRegistered: (batch) => Promise.resolve(answerTo(batch).every(({ deviceId }) => known.has(deviceId))),
    };
    let now = noneRegistered;
    const onProgress = (registration: Registration) => (now = registration);
    expect(await registerFile(asked(now), lines, hub, onProgress)).toBe(false);
    expect(now.registered).toEqual([]);
    expect(await registerFile(asked(now, true), lines, hub, onProgress)).toBe(true);
    expect(sent).toEqual([3]);
    expect(now.registered).toEqual([
      { deviceId: 'a', credential: null },
      { deviceId: 'b', credential: null, credentialLost: true },
      { deviceId: 'c', credential: null },
    ]);
  });

  it.each([
    ['sends a batch again that never arrived', false, [2, 2], true],
    ['sends nothing while the hub does not say what happened', undefined, [2], false],
  ])('%s', async (_, isRegistered, batches, isDone) => {
    const lines = linesOf(2);
    const sent: number[] = [];
    const hub: RegisteringHub = {
      register: (batch) => Promise.resolve(sent.push(batch.length) === 1 ? undefined : answerTo(batch)),
      isRegistered: () => Promise.resolve(isRegistered),
    };
    let now = noneRegistered;
    const onProgress = (registration: Registration) => (now = registration);
    await registerFile(asked(now), lines, hub, onProgress);
    expect(await registerFile(asked(now, true), lines, hub, onProgress)).toBe(isDone);
    expect(sent).toEqual(batches);
  });
});
