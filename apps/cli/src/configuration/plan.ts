/**
 * Compares three things: what the file says, what the last apply wrote, and what the hub has. A
 * field that the hub has differently than the last apply was changed by a person. Pure.
 */
import { isOver, type Fields, type Kind, type Live } from './kind.js';
import { matches, normalField } from './values.js';

export interface Applied {
  readonly fields: Fields;
  readonly revision: number;
}

/** One thing as the three sides know it. */
export interface Sides {
  readonly kind: Kind;
  readonly name: string;
  readonly wanted: Fields | undefined;
  readonly applied: Applied | undefined;
  readonly live: Live | undefined;
}

/**
 * `adopt`: the hub has it as the file says, and the file owns its fields from now on. `forget`: the
 * file does not have it any more, and no apply deletes it.
 */
type Action = 'create' | 'update' | 'replace' | 'delete' | 'adopt' | 'forget' | 'none';

export interface PlannedChange extends Sides {
  readonly action: Action;
  /** Fields that differ. */
  readonly changed: readonly string[];
  /** What people changed since the last apply; empty if nothing is lost. */
  readonly conflicts: readonly string[];
  /** Why nothing is done, for people. */
  readonly note?: string;
}

export function planOf(sides: Sides, environment: NodeJS.ProcessEnv = {}, now = Date.now()): PlannedChange {
  const { kind, wanted, applied, live } = sides;
  const plan = (action: Action, changed: readonly string[] = [], conflicts: readonly string[] = []) => ({
    ...sides,
    action,
    changed,
    conflicts,
  });
  const hasEnded = (fields: Fields) => kind.endsAt !== undefined && isOver(fields[kind.endsAt], now);
  if (wanted === undefined) {
    if (applied === undefined) return plan('none');
    if (live === undefined || live.isLimited === true) return plan('forget');
    const since = changedSince(sides, applied, live, environment);
    return plan(
      'delete',
      [],
      since.map((field) => `${field} was changed since the last apply`),
    );
  }
  if (live === undefined) {
    if (hasEnded(wanted))
      return {
        ...plan('none'),
        note: `${kind.endsAt} is in the past. Write a later one, or remove this entry from the file.`,
      };
    const isDeleted = applied !== undefined && !hasEnded(applied.fields);
    return plan('create', Object.keys(wanted), isDeleted ? ['it was deleted since the last apply'] : []);
  }
  const changed = fieldsOf(kind, wanted).filter((field) => !isSame(kind, field, wanted, live.fields, environment));
  const conflicts = [
    // A file that owns it would create it for all devices of its filter.
    ...(live.isLimited === true ? ['a key that is limited to some devices saved it: take it out of the files'] : []),
    ...changed.flatMap((field) => conflictOf(field, sides, live, environment)),
  ];
  if (changed.length > 0) return plan(kind.update === undefined ? 'replace' : 'update', changed, conflicts);
  const isOwned = applied !== undefined && ownsTheSame(kind, applied.fields, wanted, environment);
  return isOwned && conflicts.length === 0 ? plan('none') : plan('adopt', [], conflicts);
}

/** Whether two readings of a thing have the same fields. */
export function isSameThing(kind: Kind, one: Fields, other: Fields): boolean {
  return fieldsOf(kind, { ...one, ...other }).every((field) => isSame(kind, field, one, other, {}));
}

function fieldsOf({ notes = [] }: Kind, fields: Fields): readonly string[] {
  return Object.keys(fields).filter((field) => !notes.includes(field));
}

function isSame(kind: Kind, field: string, one: Fields, other: Fields, environment: NodeJS.ProcessEnv): boolean {
  return matches(normalField(kind, field, one[field]), normalField(kind, field, other[field]), environment);
}

function changedSince(
  { kind }: Sides,
  applied: Applied,
  live: Live,
  environment: NodeJS.ProcessEnv,
): readonly string[] {
  return fieldsOf(kind, applied.fields).filter(
    (field) => !isSame(kind, field, applied.fields, live.fields, environment),
  );
}

/** A field that no apply wrote belongs to people, unless it still has the value of a new thing. */
function conflictOf(
  field: string,
  { kind, applied }: Sides,
  live: Live,
  environment: NodeJS.ProcessEnv,
): readonly string[] {
  if (applied === undefined && live.isPristine === true) return [];
  if (applied !== undefined && Object.hasOwn(applied.fields, field))
    return isSame(kind, field, applied.fields, live.fields, environment)
      ? []
      : [`${field} was changed since the last apply`];
  return isSame(kind, field, kind.defaults ?? {}, live.fields, environment)
    ? []
    : [`${field} was set, and not by an apply`];
}

function ownsTheSame(kind: Kind, applied: Fields, wanted: Fields, environment: NodeJS.ProcessEnv): boolean {
  const [one, other] = [fieldsOf(kind, applied), fieldsOf(kind, wanted)];
  return (
    one.length === other.length &&
    other.every((field) => Object.hasOwn(applied, field) && isSame(kind, field, wanted, applied, environment))
  );
}

/** Whether an apply would do something. */
export const isChange = ({ action }: Pick<PlannedChange, 'action'>) => action !== 'none';
