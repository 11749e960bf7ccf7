import { describe, expect, it } from 'vitest';
import type { VersionFigures } from '@flotilla/registry';
import { readFirmwareHealth } from './firmware-health.js';

const figures = (version: string, deviceHours: number, unexpectedRestarts: number): VersionFigures => ({
  version,
  deviceCount: 10,
  offlineCount: 0,
  deviceHours,
  unexpectedRestarts,
  firstSeenAt: 1,
});

async function healthOf(...versions: readonly VersionFigures[]) {
  const restarts = { versionFigures: () => Promise.resolve(versions), countsOf: () => Promise.resolve([]) };
  const answer = await readFirmwareHealth({ restarts }, undefined, { since: 1, now: 2 });
  if ('refusal' in answer) throw new TypeError(answer.refusal.message);
  return answer.value;
}

describe('a firmware version', () => {
  it('is worse or better than the version before where their rates differ significantly', async () => {
    expect(await healthOf(figures('1.0.0', 1_000, 2), figures('1.1.0', 1_000, 40))).toMatchObject([
      { previousVersion: undefined, isWorse: false, isBetter: false },
      { previousVersion: '1.0.0', restartsPer1000Hours: 40, rateRatio: 20, isWorse: true, isBetter: false },
    ]);
    expect(await healthOf(figures('1.1.0', 1_000, 2), figures('1.0.0', 1_000, 40))).toMatchObject([
      { version: '1.1.0', isWorse: false, isBetter: true },
      { version: '1.0.0' },
    ]);
  });

  it('without hours has no rate, and is not worse for the restart after which its last device left it', async () => {
    expect(await healthOf(figures('1.0.0', 1_000, 0), figures('1.1.0', 0, 1))).toMatchObject([
      { version: '1.0.0' },
      { previousVersion: '1.0.0', restartsPer1000Hours: undefined, isWorse: false, isBetter: false },
    ]);
  });
});
