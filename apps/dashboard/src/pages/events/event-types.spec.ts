/// <reference types="node" />
/** What the console offers is what the hub writes. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventTypes } from './event-types';

const libs = fileURLToPath(new URL('../../../../../libs/', import.meta.url));
/** What writes or makes an event, with its type in the place where each has it. */
const writings = [
  /\b(?:write|event|writeEvent)\(\s*(?:\w+, )?'([a-z_]+\.[a-z_]+)'/g,
  /\breport\(\s*\w+, '([a-z_]+\.[a-z_]+)'/g,
  /\.append\(\{\s*type: '([a-z_]+\.[a-z_]+)'/g,
  /\breturn \{ type: '([a-z_]+\.[a-z_]+)'/g,
];

function writtenIn(file: string): string[] {
  const source = readFileSync(path.join(libs, file), 'utf8');
  // Steps of a job are named in one place, for the audit trail and for events.
  const inFile = path.basename(file) === 'job-audit.ts' ? [/'(job\.[a-z_]+)'/g] : writings;
  return inFile.flatMap((pattern) => [...source.matchAll(pattern)].map(([, type = '']) => type));
}

describe('the types of events that are offered', () => {
  it('are those that the hub writes, each once', () => {
    const sources = ['gateway', 'fleet', 'registry'].flatMap((lib) =>
      readdirSync(path.join(libs, lib, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !/\.(spec|suite)\.ts$|generated/.test(file))
        .map((file) => path.join(lib, 'src', file)),
    );
    expect([...eventTypes].sort()).toEqual([...new Set(sources.flatMap(writtenIn))].sort());
  });
});
