import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { DeviceRoutes } from './device-routes.js';

describe('DeviceRoutes', () => {
  const taken: string[] = [];
  const routes = new DeviceRoutes();
  routes.add([
    { method: 'POST', path: '/ota', handle: () => taken.push('exact') },
    { method: 'POST', path: '/ota/*', handle: () => taken.push('below') },
  ]);
  const take = (method: string, url: string) => {
    taken.length = 0;
    const isTaken = routes.take({ method, url } as IncomingMessage, {} as ServerResponse);
    return isTaken ? taken[0] : undefined;
  };

  it.each([
    ['POST', '/ota', 'exact'],
    ['POST', '/ota?x=1', 'exact'],
    ['POST', '/ota/', 'below'],
    ['POST', '/ota/token/activate', 'below'],
    ['PUT', '/ota', undefined],
    ['POST', '/otat', undefined],
    ['POST', '/graphql', undefined],
  ])('leads %s %s to %s', (method, url, handler) => {
    expect(take(method, url)).toBe(handler);
  });
});
