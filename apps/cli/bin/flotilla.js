#!/usr/bin/env node
/**
 * `flotilla` from a clone: runs the compiled program or explains how to build it. Committed so that
 * npm can link it before the first build.
 */
import { existsSync } from 'node:fs';

const main = new URL('../dist/program/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('The command line is not built yet: run `npm run build` in the repository.\n');
  process.exitCode = 1;
}
