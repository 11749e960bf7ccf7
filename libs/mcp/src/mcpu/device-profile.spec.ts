import { describe, expect, it } from 'vitest';
import { parseMcpuInfo } from './device-profile.js';

describe('the uptime of a board', () => {
  it.each([
    [{ uptime_ms: 1_500 }, 1_500],
    [{ uptime: 90 }, 90_000],
    [{ uptime: 90, uptime_ms: 1_500 }, 1_500],
    [{ uptime: 90, uptime_ms: -1 }, 90_000],
    [{ uptime: 0 }, 0],
    [{ uptime: 3.1e9 }, 3.1e12],
    // More than 100 years.
    [{ uptime: 3.2e9 }, undefined],
    [{ uptime: 3.1e12 }, undefined],
    [{ uptime_ms: 3.2e12 }, undefined],
    [{ uptime: '90' }, undefined],
    [{}, undefined],
  ])('of %j is %j ms', (answer, expected) => {
    expect(parseMcpuInfo(answer).uptimeMs).toBe(expected);
  });
});
