/** A disk of a story that can be filled: a tmpfs, which only root can mount. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { makeDataDir, removeDataDir } from '../hub/hub-process.js';

/** Enough for PostgreSQL's cluster and its log files, which are kept for reuse. */
const SIZE = '700m';
const BLOCK_BYTES = 1024 * 1024;

export interface SmallDisk {
  readonly folder: string;
  /** Undefined where the disk cannot be filled, with the reason printed. */
  readonly fill: (() => void) | undefined;
  /** Removes what `fill` wrote. */
  free(): void;
  remove(): void;
}

export function makeSmallDisk(): SmallDisk {
  const folder = makeDataDir();
  const filler = path.join(folder, 'filler');
  const isMounted = mount(folder);
  return {
    folder,
    fill: isMounted ? () => fillUp(filler) : undefined,
    free: () => rmSync(filler, { force: true }),
    remove: () => {
      if (isMounted) execFileSync('umount', ['--lazy', folder]);
      removeDataDir(folder);
    },
  };
}

function mount(folder: string): boolean {
  if (process.getuid?.() !== 0) {
    process.stderr.write('No fault fills the disk: only root can mount a small one.\n');
    return false;
  }
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'tmpfs', folder]);
  return true;
}

function fillUp(file: string): void {
  const descriptor = openSync(file, 'w');
  const block = Buffer.alloc(BLOCK_BYTES);
  try {
    for (let length = block.length; length > 0;) {
      try {
        writeSync(descriptor, block, 0, length);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        // The last blocks are smaller.
        length = Math.floor(length / 2);
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
