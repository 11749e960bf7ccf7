/**
 * Turns an input schema into form fields, and form values into arguments of a call. Complex values
 * are edited as JSON.
 */
import { isObject } from '../unknown-values';

interface FieldBase {
  readonly name: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
  /** The default of the schema. */
  readonly initial: unknown;
  /** What is said of a value that was given before, and which the schema does not have. */
  readonly hint?: FieldHint;
}

/** The schema has no such argument, no such choice, or another type. */
type FieldHint = 'unlisted' | 'unlistedChoice' | 'unfit';

export type ArgumentField = FieldBase &
  (
    | { readonly kind: 'range'; readonly min: number; readonly max: number; readonly isInteger: boolean }
    | {
        readonly kind: 'number';
        readonly min: number | undefined;
        readonly max: number | undefined;
        readonly isInteger: boolean;
      }
    | { readonly kind: 'switch' }
    | { readonly kind: 'choice'; readonly choices: readonly (string | number)[] }
    | { readonly kind: 'text'; readonly lengthMax: number | undefined }
    | { readonly kind: 'json' }
  );

/** Values by name of field. JSON is kept as it is typed. Undefined: left out. */
export type ArgumentDraft = Readonly<Record<string, unknown>>;
export type ArgumentProblem = 'required' | 'json';

export interface DraftedArguments {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly problems: Readonly<Record<string, ArgumentProblem>>;
}

/** A slider with more places than this is a number field. */
const rangePlacesMax = 1_000;

interface PropertySchema {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly maxLength?: unknown;
  readonly default?: unknown;
  readonly description?: unknown;
}

export function fieldsOf(schema: unknown): readonly ArgumentField[] {
  if (!isObject(schema)) return [];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties).map(([name, property]) =>
    fieldOf(name, isObject(property) ? property : {}, required.includes(name)),
  );
}

/**
 * Fields that also show arguments which were given before. The schema may be of another version
 * of the tool: what it does not have is kept until a person changes it.
 */
export function fieldsWith(given: Readonly<Record<string, unknown>>, schema: unknown): readonly ArgumentField[] {
  const listed = fieldsOf(schema);
  const unlisted = Object.keys(given).filter((name) => !listed.some((field) => field.name === name));
  return [
    ...listed.map((field) => fieldWith(given[field.name], field)),
    ...unlisted.map((name) => jsonField({ name, description: undefined, isRequired: false }, 'unlisted')),
  ];
}

/** JSON shows each value. In a list of choices, 1 and "1" are the same. */
function fieldWith(value: unknown, field: ArgumentField): ArgumentField {
  if (value === undefined || field.kind === 'json' || isShown(field, value)) return field;
  const isChoice = typeof value === 'string' || typeof value === 'number';
  if (field.kind === 'choice' && isChoice && !field.choices.some((choice) => String(choice) === String(value)))
    return { ...field, choices: [...field.choices, value], hint: 'unlistedChoice' };
  return jsonField(field, 'unfit');
}

function jsonField(
  { name, description, isRequired }: Pick<ArgumentField, 'name' | 'description' | 'isRequired'>,
  hint: FieldHint,
): ArgumentField {
  return { kind: 'json', name, description, isRequired, initial: undefined, hint };
}

function fieldOf(name: string, property: PropertySchema, isRequired: boolean): ArgumentField {
  const description =
    typeof property.description === 'string' && property.description !== '' ? property.description : undefined;
  const base = { name, description, isRequired, initial: property.default };
  const choices = choicesIn(property.enum);
  if (choices.length > 0) return { ...base, kind: 'choice', choices };
  switch (property.type) {
    case 'boolean':
      return { ...base, kind: 'switch' };
    case 'string':
      return { ...base, kind: 'text', lengthMax: numberIn(property.maxLength) };
    case 'integer':
    case 'number':
      return numericField(base, property);
    default:
      return {
        ...base,
        kind: 'json',
        initial: property.default === undefined ? undefined : JSON.stringify(property.default, null, 2),
      };
  }
}

/** Each text once: in a list of choices, 1 and "1" are the same. */
function choicesIn(values: unknown): readonly (string | number)[] {
  const usable = (Array.isArray(values) ? (values as readonly unknown[]) : []).filter(
    (value) => typeof value === 'string' || typeof value === 'number',
  );
  const texts = usable.map(String);
  return usable.filter((_, index) => texts.indexOf(texts[index] ?? '') === index);
}

function numericField(base: FieldBase, property: PropertySchema): ArgumentField {
  const [min, max, isInteger] = [numberIn(property.minimum), numberIn(property.maximum), property.type === 'integer'];
  if (min === undefined || max === undefined || !isInteger || max - min > rangePlacesMax || max <= min)
    return { ...base, kind: 'number', min, max, isInteger };
  return { ...base, kind: 'range', min, max, isInteger };
}

/**
 * Values for required fields that have no default: the minimum, and off. For forms of one device;
 * a job on many devices must not begin with a value that was not chosen.
 */
export function presetsOf(fields: readonly ArgumentField[]): Readonly<Record<string, unknown>> {
  const presets: Record<string, unknown> = {};
  for (const field of fields) {
    if (!field.isRequired || field.initial !== undefined) continue;
    if (field.kind === 'range') presets[field.name] = field.min;
    else if (field.kind === 'switch') presets[field.name] = false;
  }
  return presets;
}

/**
 * `known` are better initial values than the schema's defaults, such as the current state of the
 * device.
 */
export function draftOf(
  fields: readonly ArgumentField[],
  known: Readonly<Record<string, unknown>> = {},
): ArgumentDraft {
  const given = draftOfGiven(fields, known);
  return Object.fromEntries(
    fields.map((field) => {
      const { name, initial } = field;
      return [name, [given[name], initial].find((value) => isShown(field, value))];
    }),
  );
}

/** Whether the field can show the value. One that it shows as empty must not be sent. */
export function isShown(field: ArgumentField, value: unknown): boolean {
  switch (field.kind) {
    case 'range':
    case 'number':
      return typeof value === 'number';
    case 'switch':
      return typeof value === 'boolean';
    case 'choice':
      return field.choices.some((choice) => choice === value);
    default:
      return typeof value === 'string';
  }
}

/** Arguments that were chosen before, without defaults: what they lack was left out on purpose. */
export function draftOfGiven(
  fields: readonly ArgumentField[],
  given: Readonly<Record<string, unknown>>,
): ArgumentDraft {
  return Object.fromEntries(
    fields.map(({ name, kind }) => {
      const value = given[name];
      return [name, kind === 'json' && value !== undefined ? JSON.stringify(value, null, 2) : value];
    }),
  );
}

export function argumentsOf(fields: readonly ArgumentField[], draft: ArgumentDraft): DraftedArguments {
  const problems: Record<string, ArgumentProblem> = {};
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const { name, kind, isRequired } = field;
    const value = draft[name];
    // A required text may be empty: that is for the device to judge.
    if (value === undefined || (value === '' && !(kind === 'text' && isRequired))) {
      if (isRequired) problems[name] = 'required';
    } else if (kind === 'json') {
      const parsed = parseJson(String(value));
      if (parsed === undefined) problems[name] = 'json';
      else values[name] = parsed.value;
    } else values[name] = value;
  }
  return { arguments: values, problems };
}

/** Undefined where the text is no JSON. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
