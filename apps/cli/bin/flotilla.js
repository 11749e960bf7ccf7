#!/usr/bin/env node
/** `flotilla` from a clone: the compiled program, or a word on how to get it. It is committed so that npm has something to link before the first build. */
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write('The command line is not built yet: run `npm run build` in the repository.\n');
  process.exitCode = 1;
}
