/**
 * Paths of measurements: `<tool>:<steps>` into the state of a status tool, or `samples:<name>` of a
 * microcontroller. `*` matches one step.
 */
import { clipText } from '@flotilla/mcp';

/** Characters of a path. */
export const pathMax = 200;
/** Nested levels into which a state is read. */
const levelsMax = 6;
/** Numbers of one report that are looked at. */
const valuesPerReportMax = 200;
/** The source of samples of microcontrollers, where states have the name of their tool. */
const samplesSource = 'samples';

export interface PathPattern {
  readonly source: string;
  readonly steps: readonly string[];
}

/** A number in a report. `path` has the source. */
export interface ReportedNumber {
  readonly path: string;
  readonly value: number;
}

/** Returns the pattern, or the reason why the text is not one. */
export function parsePattern(text: string): PathPattern | { readonly problem: string } {
  if (text.length === 0 || text.length > pathMax) return { problem: `A path has 1 to ${pathMax} characters.` };
  if (/[\p{Cc}\s]/u.test(text)) return { problem: 'A path has no spaces and no control characters.' };
  const [source = '', rest, ...more] = text.split(':');
  if (source === '' || rest === undefined || more.length > 0)
    return { problem: 'Write a path as <tool>:<path>, for example self.get_device_status:battery.level.' };
  const steps = rest.split('.');
  if (steps.some((step) => step === ''))
    return { problem: 'Each step of a path needs a name, for example battery.level. `*` matches one step.' };
  if (steps.some((step) => step !== '*' && step.includes('*')))
    return { problem: '`*` replaces one whole step, for example *.level.' };
  return { source, steps };
}

export function matchesPath({ source, steps }: PathPattern, path: string): boolean {
  const colon = path.indexOf(':');
  if (colon === -1 || path.slice(0, colon) !== source) return false;
  const own = path.slice(colon + 1).split('.');
  return own.length === steps.length && steps.every((step, index) => step === '*' || step === own[index]);
}

/** The numbers of a state, with their paths, in the order of the state and bounded. */
export function numbersIn(source: string, state: unknown): readonly ReportedNumber[] {
  const found: ReportedNumber[] = [];
  collect(found, `${source}:`, state, 1);
  return found;
}

function collect(found: ReportedNumber[], prefix: string, value: unknown, level: number): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || level > levelsMax) return;
  for (const [name, member] of Object.entries(value)) {
    if (found.length >= valuesPerReportMax) return;
    const path = prefix + name;
    // A step with separators would look like two steps.
    if (name === '' || /[.:*\p{Cc}\s]/u.test(name) || path.length > pathMax) continue;
    const number = numberOf(path, member);
    if (number === undefined) collect(found, `${path}.`, member, level + 1);
    else found.push({ path, value: number });
  }
}

const strengths: Readonly<Record<string, number>> = { strong: 3, medium: 2, weak: 1 };

/** Booleans count as 0 and 1, the strength of a network as 1 to 3. Other texts are no numbers. */
export function numberOf(path: string, value: unknown): number | undefined {
  if (typeof value === 'number') return inRange(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'string') return undefined;
  if (path.endsWith('network.signal')) return Object.hasOwn(strengths, value) ? strengths[value] : undefined;
  // xiaozhi firmware writes this number as a text. [xiaozhi §7.2]
  if (path.endsWith('heap_size') && /^\d{1,12}$/.test(value)) return Number(value);
  return undefined;
}

/** Roll-ups have single precision, whose range ends near these. */
function inRange(value: number): number | undefined {
  const size = Math.abs(value);
  if (size < 1e-30) return 0;
  return size <= 1e30 ? value : undefined;
}

/** The path of the samples with this name, in which separators become `_`. */
export function samplePath(name: string): string {
  return clipText(`${samplesSource}:${name.replace(/[.:*\p{Cc}\s]+/gu, '_')}`, pathMax);
}
