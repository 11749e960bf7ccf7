import { FlotillaError } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import { exitCodeOf, exitCodes, UsageError } from './exit-codes.js';

describe('the exit code', () => {
  it.each([
    [new UsageError('x'), 1],
    [new UsageError('x', exitCodes.forbidden), 5],
    [new TypeError('x'), 1],
    [new FlotillaError('INTERNAL', 'x'), 1],
    [new FlotillaError('NOT_FOUND', 'x'), 2],
    [new FlotillaError('INVALID', 'x'), 2],
    [new FlotillaError('UNREACHABLE', 'x'), 4],
    [new FlotillaError('UNAVAILABLE', 'x'), 4],
    [new FlotillaError('RATE_LIMITED', 'x'), 4],
    [new FlotillaError('UNAUTHENTICATED', 'x'), 5],
    [new FlotillaError('FORBIDDEN', 'x'), 5],
  ])('of %j is %i', (error, code) => expect(exitCodeOf(error)).toBe(code));
});
