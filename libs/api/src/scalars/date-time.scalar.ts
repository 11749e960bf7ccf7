/**
 * DateTime: RFC 3339 outside, milliseconds since the Unix epoch inside. Refuses dates that do not
 * exist.
 */
import { GraphQLScalarType, Kind } from 'graphql';
import { ApiError } from '../errors/api-error.js';

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

const earliest = Date.parse('0001-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

export const dateTimeScalar = new GraphQLScalarType<number, string>({
  name: 'DateTime',
  description: 'A moment in UTC, written as RFC 3339, for example `2026-01-31T12:00:00Z`.',
  specifiedByURL: null,
  serialize: (value) => {
    if (typeof value !== 'number') throw new TypeError('A DateTime is a number of milliseconds inside.');
    return new Date(value).toISOString();
  },
  parseValue: parseDateTime,
  parseLiteral: (node) => parseDateTime(node.kind === Kind.STRING ? node.value : undefined),
});

function parseDateTime(value: unknown): number {
  const parts = typeof value === 'string' ? rfc3339.exec(value) : null;
  if (!parts || !isCalendarDay(Number(parts[1]), Number(parts[2]), Number(parts[3]))) {
    throw new ApiError(
      'BAD_USER_INPUT',
      'A DateTime is RFC 3339 text with a zone, for example "2026-11-21T09:30:00.000Z".',
    );
  }
  const at = Date.parse(parts[0].toUpperCase());
  // The offset can lead out of the years that RFC 3339 and PostgreSQL can write.
  if (at < earliest || at > latest)
    throw new ApiError('BAD_USER_INPUT', 'A DateTime is in the years 0001 to 9999 of UTC.');
  return at;
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12) return false;
  return day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}
