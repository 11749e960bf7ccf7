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
  /\b(?:write|event|eventOf|writeEvent)\(\s*(?:\w+, )?'([a-z_]+\.[a-z_]+)'/g,
  /\bwriteDesiredStateEvent\((?:this\.)?deps, '([a-z_]+\.[a-z_]+)'/g,
  /\breport\(\s*(?:\w+, )?'([a-z_]+\.[a-z_]+)'/g,
  /(?:^ +|\.append\(\{ )type: '([a-z_]+\.[a-z_]+)'/gm,
  /\breturn \{ type: '([a-z_]+\.[a-z_]+)'/g,
];

/** Files that name types which others write: steps of a job, and what a change of an entry is. */
const namings: Readonly<Record<string, readonly RegExp[]>> = {
  'job-audit.ts': [/'(job\.[a-z_]+)'/g],
  'compliance-event.ts': [/'(device\.[a-z_]+)'/g],
};

function writtenIn(file: string): string[] {
  const source = readFileSync(path.join(libs, file), 'utf8');
  const patterns = namings[path.basename(file)] ?? writings;
  return patterns.flatMap((pattern) => [...source.matchAll(pattern)].map(([, type = '']) => type));
}

describe('the types of events that are offered', () => {
  it('are those that the hub writes, each once', () => {
    const sources = ['gateway', 'fleet', 'registry', 'desired-state'].flatMap((lib) =>
      readdirSync(path.join(libs, lib, 'src'), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !/\.(spec|suite)\.ts$|generated/.test(file))
        .map((file) => path.join(lib, 'src', file)),
    );
    expect([...eventTypes].sort()).toEqual([...new Set(sources.flatMap(writtenIn))].sort());
  });

  it('are those of docs/webhooks.md', () => {
    const page = readFileSync(fileURLToPath(new URL('../../../../../docs/webhooks.md', import.meta.url)), 'utf8');
    const [, section = ''] = page.split('## Types of events');
    const cells = (section.split('\n## ')[0] ?? '').matchAll(/^\| (`[^|]+)\|/gm);
    const documented = [...cells].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([a-z_.]+)`/g)].map(([, type]) => type),
    );
    expect(documented.sort()).toEqual([...eventTypes].sort());
  });
});
