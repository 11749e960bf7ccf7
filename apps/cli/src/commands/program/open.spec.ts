import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { browserCommand, consoleAddress, pages, things } from './open.js';

describe('a page of the console', () => {
  it.each([
    [undefined, undefined, 'https://hub.example/fleet/'],
    ['jobs', undefined, 'https://hub.example/fleet/jobs'],
    ['desired-state', '7', 'https://hub.example/fleet/desired/7'],
    ['device', '02:00/a', 'https://hub.example/fleet/devices/02:00%2Fa'],
  ])('%s %s is at %s', (page, id, address) => {
    expect(consoleAddress('https://hub.example/fleet/', page, id)).toBe(address);
  });

  it('needs its id, or has none', () => {
    expect(() => consoleAddress('https://hub.example', 'job', undefined)).toThrow('Which job? Add its id');
    expect(() => consoleAddress('https://hub.example', 'jobs', '7')).toThrow('The page "jobs" has no id.');
  });
});

describe('the pages', () => {
  const routes = fileURLToPath(new URL('../../../../dashboard/src/routes.tsx', import.meta.url));
  const pathsLike = (pattern: RegExp) => [...readFileSync(routes, 'utf8').matchAll(pattern)].map(([, path]) => path);

  it('are all those of the console', () => expect([...pages].sort()).toEqual(pathsLike(/path: '\/([\w-]+)'/g).sort()));

  it('of one thing are those of the console', () =>
    expect(Object.values(things).sort()).toEqual(pathsLike(/path: '\/([\w-]+)\/\$id'/g).sort()));
});

describe('a browser', () => {
  it('is started by the program of the system, if there is a screen', () => {
    expect(browserCommand('darwin', {})).toEqual(['open']);
    expect(browserCommand('win32', {})).toEqual(['rundll32', 'url.dll,FileProtocolHandler']);
    expect(browserCommand('linux', { WAYLAND_DISPLAY: 'wayland-0' })).toEqual(['xdg-open']);
    expect(browserCommand('linux', {})).toBeUndefined();
  });
});
