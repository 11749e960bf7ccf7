import { describe, expect, it } from 'vitest';
import { otaTarget } from './ota-target.js';

describe('otaTarget', () => {
  it.each([
    ['/ota', undefined, false],
    ['/ota/', undefined, false],
    ['/ota/activate', undefined, true],
    ['/ota/activate/', undefined, true],
    ['/ota/aB_-9', 'aB_-9', false],
    ['/ota/aB_-9/', 'aB_-9', false],
    ['/ota/aB_-9/activate', 'aB_-9', true],
    ['/ota/aB_-9/?site=1', 'aB_-9', false],
    ['/ota/aB_-9/?site=1/activate', 'aB_-9', true],
    ['/ota/a/b', undefined, false],
    ['/ota/%2e%2e/', undefined, false],
  ])('reads %s', (url, token, isActivation) => {
    expect(otaTarget(url)).toEqual({ token, isActivation });
  });
});
