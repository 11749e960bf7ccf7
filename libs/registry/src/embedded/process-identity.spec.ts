import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSameProcess, startMark } from './process-identity.js';

describe('a process with a mark', () => {
  it('is the same while it lives, and no other one with its id', async () => {
    expect(await isSameProcess(process.pid, await startMark(process.pid))).toBe(true);
    expect(await isSameProcess(process.pid, 'another boot/1')).toBe(process.platform !== 'linux');
    expect(await isSameProcess(process.pid, '')).toBe(true);
  });

  it('counts as the same where the system hides it: a backup must not take the folder of the hub', async () => {
    const hidden = await mkdtemp(path.join(tmpdir(), 'flotilla-test-proc-'));
    try {
      expect(await isSameProcess(process.pid, await startMark(process.pid), hidden)).toBe(true);
      // After a power loss the id may be of any other process.
      expect(await isSameProcess(process.pid, 'another boot/1', hidden)).toBe(process.platform !== 'linux');
    } finally {
      await rm(hidden, { recursive: true });
    }
  });

  it('is gone after its end, hidden or not', async () => {
    const child = spawn(process.execPath, ['--eval', '']);
    await once(child, 'exit');
    expect(await isSameProcess(child.pid ?? 0, 'mark')).toBe(false);
  });
});
