/**
 * Checks the types of all code and specs, and writes nothing. One program for everything that runs
 * in Node reads each file once: a program per project takes five times as long.
 */
import { fileURLToPath } from 'node:url';
import { run, tsc } from '../build.mjs';

/** The last two have types of the browser. */
export const checkedProjects = [
  'tsconfig.check.json',
  'apps/dashboard/tsconfig.spec.json',
  'libs/client/tsconfig.spec.json',
];

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const project of checkedProjects) run(process.execPath, [tsc, '--project', project]);
