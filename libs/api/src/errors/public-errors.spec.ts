import { GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';
import { BusError } from '@flotilla/bus';
import { RegistryError } from '@flotilla/registry';
import { ApiError } from './api-error.js';
import { maskFault, toPublicErrors } from './public-errors.js';

function shown(error: Error): {
  readonly code: unknown;
  readonly message: string | undefined;
  readonly logged: readonly string[];
} {
  const logged: string[] = [];
  const logger = {
    error: (_fields: object, message: string) => logged.push(message),
    warn: () => undefined,
    debug: () => undefined,
  };
  const [formatted] = toPublicErrors([error], logger);
  return { code: formatted?.extensions?.['code'], message: formatted?.message, logged };
}

const inResolver = (originalError: Error): GraphQLError =>
  new GraphQLError(originalError.message, { path: ['devices'], originalError });

describe('toPublicErrors', () => {
  it('shows errors that were written for the caller', () => {
    expect(shown(inResolver(new ApiError('FORBIDDEN', 'No.')))).toEqual({
      code: 'FORBIDDEN',
      message: 'No.',
      logged: [],
    });
  });

  it('writes list indexes as numbers, also for compiled queries', () => {
    const error = new GraphQLError('No.', { path: ['devices', 'nodes', '0', 'sessions'] });
    const quiet = { error: () => undefined, warn: () => undefined, debug: () => undefined };
    expect(toPublicErrors([error], quiet)[0]?.path).toEqual(['devices', 'nodes', 0, 'sessions']);
  });

  it('masks internal errors, and logs them once', () => {
    const { code, message, logged } = shown(inResolver(new TypeError('password is hunter2')));
    expect(code).toBe('INTERNAL');
    expect(message).not.toContain('hunter2');
    expect(logged).toHaveLength(1);
  });

  it('reports a bad cursor as BAD_USER_INPUT', () => {
    const error = inResolver(new RegistryError('ARGUMENT_INVALID', 'The cursor "x" is not one of this list.'));
    expect(shown(error)).toEqual({
      code: 'BAD_USER_INPUT',
      message: 'The cursor "x" is not one of this list.',
      logged: [],
    });
  });

  it('names PostgreSQL without details while it is unavailable', () => {
    const { code, message } = shown(
      inResolver(new RegistryError('DATABASE_UNAVAILABLE', 'connect ECONNREFUSED 10.0.0.7:5432')),
    );
    expect(code).toBe('UNAVAILABLE');
    expect(message).toMatch(/^PostgreSQL does not answer/);
    expect(message).not.toContain('10.0.0.7');
  });

  it('names Redis while it is unavailable, in GraphQL and REST', () => {
    const away = new BusError('BUS_UNAVAILABLE', 'Could not look up a device.', {
      cause: new Error('connect ECONNREFUSED 10.0.0.7:6379'),
    });
    const { code, message } = shown(inResolver(away));
    expect(code).toBe('UNAVAILABLE');
    expect(message).toMatch(/^Redis.*does not answer/);
    expect(maskFault(away)).toMatchObject({ code: 'UNAVAILABLE', message });
  });

  it('reports errors of graphql before the resolvers as BAD_USER_INPUT', () => {
    expect(shown(new GraphQLError('Syntax Error: Unexpected <EOF>.')).code).toBe('BAD_USER_INPUT');
  });

  it('reports a value that the schema forbids as an internal error', () => {
    expect(shown(inResolver(new GraphQLError('Float cannot represent non numeric value: NaN'))).code).toBe('INTERNAL');
  });

  it('unfolds the errors that Mercurius wraps', () => {
    const wrapped = Object.assign(new Error('Graphql validation error'), {
      errors: [new GraphQLError('one'), new GraphQLError('two')],
    });
    const logger = { error: () => undefined, warn: () => undefined, debug: () => undefined };
    expect(
      toPublicErrors([new GraphQLError('x', { originalError: wrapped })], logger).map(({ message }) => message),
    ).toEqual(['one', 'two']);
  });
});
