/// <reference types="node" />
/** What the console offers is what the hub writes. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventTypes } from './event-types';

/** The console may not import the registry, which runs in the hub. */
const hubTypes = (): readonly string[] => {
  const file = fileURLToPath(new URL('../../../../../libs/registry/src/events/event-types.ts', import.meta.url));
  return [...readFileSync(file, 'utf8').matchAll(/^ {2}'([a-z_]+\.[a-z_]+)',$/gm)].map(([, type = '']) => type);
};

describe('the types of events that are offered', () => {
  it('are those that the hub writes', () => {
    expect(hubTypes()).toContain('device.connected');
    expect(eventTypes).toEqual(hubTypes());
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
