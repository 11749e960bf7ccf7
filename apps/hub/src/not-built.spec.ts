import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const program = fileURLToPath(new URL('../bin/flotilla-hub', import.meta.url));

it('the commands of a clone that is not built name the build', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'flotilla-clone-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  mkdirSync(path.join(folder, 'bin'));
  const copy = path.join(folder, 'bin', 'flotilla-hub');
  copyFileSync(program, copy);
  const { status, stderr } = spawnSync(copy, ['restore', 'hub.tar.gz'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('`npm run build`')]);
});
