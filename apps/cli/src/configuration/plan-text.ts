/** A plan for people: a line for each thing, and a diff of its fields. */
import { structuredPatch } from 'diff';
import { thingText } from './document.js';
import type { Fields } from './kind.js';
import type { PlannedChange } from './plan.js';

const signs: Readonly<Record<PlannedChange['action'], string>> = {
  create: '+',
  update: '~',
  replace: '±',
  delete: '-',
  adopt: '=',
  forget: ' ',
  none: ' ',
};
const notes: Partial<Readonly<Record<PlannedChange['action'], string>>> = {
  replace: 'a new one, with a new secret; the former one ends',
  adopt: 'is as in the file, which owns its fields from now on',
  forget: 'is gone from the file, and the hub is not changed',
};

export function planText(changes: readonly PlannedChange[]): string {
  if (changes.length === 0) return 'The hub is as in the file.';
  const conflicts = changes.filter((change) => change.conflicts.length > 0).length;
  const lines = changes.flatMap(changeLines);
  const count = (action: PlannedChange['action']) => changes.filter((change) => change.action === action).length;
  const summary = (['create', 'update', 'replace', 'delete', 'adopt', 'forget'] as const)
    .map((action) => [action, count(action)] as const)
    .filter(([, number]) => number > 0)
    .map(([action, number]) => `${action}: ${number}`);
  return [...lines, '', `${[...summary, ...(conflicts > 0 ? [`conflicts: ${conflicts}`] : [])].join(', ')}.`].join(
    '\n',
  );
}

function changeLines({ kind, name, action, conflicts, ...sides }: PlannedChange): readonly string[] {
  const note = notes[action];
  const thing = `${kind.kind} ${JSON.stringify(name)}`;
  const title = `${signs[action]} ${action} ${thing}${note === undefined ? '' : `: ${note}`}`;
  const reasons = conflicts.map((reason) => `    conflict: ${reason}`);
  if (action === 'adopt' || action === 'forget') return [title, ...reasons];
  return [
    title,
    ...reasons,
    ...diffLines(beforeOf(sides, kind.notes), sides.wanted ?? {}).map((line) => `    ${line}`),
  ];
}

/** Of the fields that the file or the last apply names; others stay as they are. */
function beforeOf(
  { wanted, applied, live }: Pick<PlannedChange, 'wanted' | 'applied' | 'live'>,
  explanations: readonly string[] = [],
): Fields {
  const named = Object.keys(wanted ?? applied?.fields ?? {}).filter(
    (field) => wanted === undefined || !explanations.includes(field),
  );
  const shown = named.filter((field) => live !== undefined && Object.hasOwn(live.fields, field));
  const kept = explanations.filter((field) => wanted !== undefined && Object.hasOwn(wanted, field));
  return Object.fromEntries([
    ...shown.map((field) => [field, live?.fields[field]] as const),
    ...(live === undefined ? [] : kept.map((field) => [field, wanted?.[field]] as const)),
  ]);
}

function diffLines(before: Fields, after: Fields): readonly string[] {
  const text = (fields: Fields) => (Object.keys(fields).length === 0 ? '' : thingText(fields));
  const { hunks } = structuredPatch('', '', text(before), text(after), '', '', { context: 2 });
  return hunks.flatMap(({ lines }) => lines).filter((line) => !line.startsWith('\\'));
}
