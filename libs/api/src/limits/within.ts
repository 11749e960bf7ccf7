import { ApiError } from '../errors/api-error.js';

/** A chart has no more pixels for them. */
const pointsMax = 400;

/** BAD_USER_INPUT outside `least`..`most`. */
export function within(
  name: string,
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  if (value >= least && value <= most) return value;
  throw new ApiError('BAD_USER_INPUT', `${name} must be ${least} to ${most}, not ${value}.`);
}

/** The requested `points`, or the default of the schema. */
export function pointCount(points: number | null | undefined, fallback: number): number {
  return within('points', points ?? fallback, { least: 2, most: pointsMax });
}
