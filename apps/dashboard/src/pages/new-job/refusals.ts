/** The hub's refusals, each at the field that it is about. Knows nothing of the page. */
import type { JobDraft } from './job-draft';
import type { StepName } from './job-steps';

export interface Refusal {
  readonly message: string;
  /** As the hub names the place in the input: `input`, `waves`, `0`, `percent`. */
  readonly path: readonly string[];
}

/** Maps members of the input to the wizard step and the member of the draft that they come from. */
const places: Readonly<Record<string, readonly [StepName, keyof JobDraft]>> = {
  name: ['what', 'name'],
  tool: ['what', 'tool'],
  arguments: ['what', 'arguments'],
  firmwareImageId: ['what', 'firmwareImageId'],
  verification: ['what', 'verification'],
  skipIfSatisfied: ['what', 'skipIfSatisfied'],
  callTimeoutMs: ['what', 'callTimeoutSeconds'],
  maxAttempts: ['what', 'maxAttempts'],
  devices: ['whom', 'devices'],
  offline: ['whom', 'offline'],
  expiresInSeconds: ['whom', 'expiresInHours'],
  startAt: ['pace', 'startAt'],
  window: ['pace', 'window'],
  maxInFlight: ['pace', 'maxInFlight'],
  perMinute: ['pace', 'perMinute'],
  priority: ['pace', 'priority'],
  waves: ['pace', 'waves'],
  abort: ['stop', 'rules'],
};

function placeOf({ path }: Refusal): readonly [StepName, keyof JobDraft] | undefined {
  return path[0] === 'input' ? places[path[1] ?? ''] : undefined;
}

/** The step that can mend it; undefined where none can. */
export function stepOf(refusal: Refusal): StepName | undefined {
  return placeOf(refusal)?.[0];
}

/**
 * The path of an error inside one member, such as `waves`, `0`, `percent`. Empty if the whole
 * member is rejected.
 */
export function refusedAt(refusals: readonly Refusal[], ...at: readonly string[]): string | undefined {
  return refusals.find(({ path }) => path.slice(1).join('.') === at.join('.'))?.message;
}

/** What the hub says of a member or of anything in it. */
export function refusedIn(refusals: readonly Refusal[], member: string): string | undefined {
  return refusals.find(({ path }) => path[1] === member)?.message;
}

/** Without those whose field was changed since. */
export function stillRefused(refusals: readonly Refusal[], changed: Partial<JobDraft>): readonly Refusal[] {
  const left = refusals.filter((refusal) => !(String(placeOf(refusal)?.[1]) in changed));
  return left.length === refusals.length ? refusals : left;
}
