/**
 * Fields for the arguments of a tool from its input schema, or a JSON editor if the schema is
 * unknown.
 */
import { useMemo, useState } from 'react';
import { Group, InputWrapper, JsonInput, Select, Slider, Stack, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { NumberField } from '../number/number-field';
import {
  type ArgumentDraft,
  type ArgumentField,
  type ArgumentProblem,
  argumentsOf,
  draftOf,
  draftOfGiven,
  type DraftedArguments,
  fieldsWith,
  isShown,
  parseJson,
  presetsOf,
} from './argument-fields';
import classes from './arguments-form.module.css';
import { isObject } from '../unknown-values';

interface ArgumentsState extends DraftedArguments {
  readonly fields: readonly ArgumentField[] | undefined;
  readonly draft: ArgumentDraft;
  readonly change: (name: string, value: unknown) => void;
  readonly isSound: boolean;
  readonly isPreset: boolean;
}

interface ArgumentsStart {
  /** Better initial values than the defaults of the schema, such as the present state. */
  readonly known?: Readonly<Record<string, unknown>>;
  /** Arguments of a draft or of what is stored. Without them the form begins with the defaults. */
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** Whether required values without a default have one here; else they must be chosen. */
  readonly isPreset: boolean;
}

/** The one field of a tool without a schema. */
const whole = 'arguments';

interface KnownTool {
  readonly inputSchema: unknown;
  readonly schemaKnown?: boolean;
}

/** The draft resets only with the component: give it a `key` for another tool or schema. */
export function useArguments(tool: KnownTool, { known, given, isPreset }: ArgumentsStart): ArgumentsState {
  // As given at first: a field that is emptied stays to be filled again.
  const [first] = useState(given);
  const fields = useMemo(() => {
    if (tool.schemaKnown === false) return undefined;
    return fieldsWith(first ?? {}, tool.inputSchema);
  }, [tool.inputSchema, tool.schemaKnown, first]);
  const [draft, setDraft] = useState<ArgumentDraft>(() => {
    if (fields === undefined) return { [whole]: JSON.stringify(given ?? known ?? {}, null, 2) };
    if (given !== undefined) return draftOfGiven(fields, given);
    return draftOf(fields, { ...(isPreset && presetsOf(fields)), ...known });
  });
  const drafted = fields ? argumentsOf(fields, draft) : wholeOf(String(draft[whole]));
  const change = (name: string, value: unknown) => setDraft((now) => ({ ...now, [name]: value }));
  return { ...drafted, fields, draft, change, isSound: Object.keys(drafted.problems).length === 0, isPreset };
}

function wholeOf(text: string): DraftedArguments {
  const parsed = parseJson(text)?.value;
  return isObject(parsed) ? { arguments: parsed, problems: {} } : { arguments: {}, problems: { [whole]: 'json' } };
}

interface ArgumentsFormProps {
  readonly state: ArgumentsState;
  /** Problems are shown after the first attempt to submit. */
  readonly isTried: boolean;
}

export function ArgumentsForm({ state: { fields, draft, change, problems, isPreset }, isTried }: ArgumentsFormProps) {
  const { t } = useTranslation();
  if (fields === undefined)
    return (
      <JsonInput
        label={t('tool.arguments')}
        description={t('tool.noSchema')}
        value={String(draft[whole])}
        onChange={(text) => change(whole, text)}
        error={isTried && problems[whole] && t('tool.notAnObject')}
        autosize
        minRows={3}
        maxRows={16}
      />
    );
  if (fields.length === 0) return null;
  return (
    <Stack gap="sm">
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={draft[field.name]}
          problem={isTried ? problems[field.name] : undefined}
          isPreset={isPreset}
          onChange={(value) => change(field.name, value)}
        />
      ))}
    </Stack>
  );
}

/** What is out of bounds is for the device to judge. */
const anyNumber = { allowNegative: true, clampBehavior: 'none' } as const;

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

interface FieldProps {
  readonly field: ArgumentField;
  readonly value: unknown;
  readonly problem: ArgumentProblem | undefined;
  readonly isPreset: boolean;
  readonly onChange: (value: unknown) => void;
}

function Field({ field, value, problem, isPreset, onChange }: FieldProps) {
  const { t } = useTranslation();
  const frame = {
    label: field.name,
    description: [field.description, field.hint && t(`tool.${field.hint}`)].filter(Boolean).join(' '),
    withAsterisk: field.isRequired,
    error: useProblemText(problem),
  };
  switch (field.kind) {
    case 'range':
      return <RangeField {...{ field, value, problem, isPreset, onChange }} />;
    case 'number':
      return (
        <NumberField
          {...frame}
          {...anyNumber}
          {...(field.min !== undefined && { min: field.min })}
          {...(field.max !== undefined && { max: field.max })}
          allowDecimal={!field.isInteger}
          value={numberOf(value)}
          onChange={onChange}
          w="100%"
          maw={260}
          inputWrapperOrder={['label', 'description', 'input', 'error']}
        />
      );
    case 'switch':
      return <SwitchField {...{ field, value, problem, isPreset, onChange }} />;
    case 'choice':
      return (
        <Select
          {...frame}
          data={field.choices.map(String)}
          value={isShown(field, value) ? String(value) : null}
          onChange={(chosen) => onChange(field.choices.find((choice) => String(choice) === chosen))}
          allowDeselect={!field.isRequired}
          maw={260}
        />
      );
    case 'text':
      return (
        <TextInput
          {...frame}
          {...(field.lengthMax !== undefined && { maxLength: field.lengthMax })}
          value={typeof value === 'string' ? value : ''}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'json':
      return (
        <JsonInput
          {...frame}
          value={typeof value === 'string' ? value : ''}
          onChange={onChange}
          autosize
          minRows={2}
          maxRows={12}
        />
      );
  }
}

function useProblemText(problem: ArgumentProblem | undefined): string | undefined {
  const { t } = useTranslation();
  return problem && t(`tool.problem.${problem}`);
}

/** A switch has no empty state: a required value that must be chosen is a choice of two. */
function SwitchField({ field, value, problem, isPreset, onChange }: FieldProps) {
  const { t } = useTranslation();
  const frame = {
    label: field.name,
    description: field.description,
    error: useProblemText(problem),
  };
  if (isPreset || !field.isRequired)
    return <Switch {...frame} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
  return (
    <Select
      {...frame}
      withAsterisk
      data={(['on', 'off'] as const).map((state) => ({ value: state, label: t(`tool.${state}`) }))}
      placeholder={t('tool.choose')}
      value={isShown(field, value) ? (value === true ? 'on' : 'off') : null}
      onChange={(chosen) => onChange(chosen === 'on')}
      allowDeselect={false}
      maw={260}
    />
  );
}

/** The slider for the hand, the number beside it for the exact value. */
function RangeField({
  field,
  value,
  problem,
  onChange,
}: FieldProps & { readonly field: ArgumentField & { readonly kind: 'range' } }) {
  const { t } = useTranslation();
  const { name, min, max } = field;
  return (
    <InputWrapper
      label={name}
      labelElement="div"
      description={[field.description, t('tool.between', { min, max })].filter(Boolean).join(' ')}
      withAsterisk={field.isRequired}
      error={useProblemText(problem)}
    >
      <Group gap="md" wrap="nowrap" mt={6}>
        <Slider
          flex={1}
          min={min}
          max={max}
          value={typeof value === 'number' ? Math.min(max, Math.max(min, value)) : min}
          onChange={onChange}
          label={null}
          thumbLabel={name}
          maw={420}
          {...(!isShown(field, value) && { classNames: { thumb: classes.unset }, thumbValueText: t('tool.notChosen') })}
        />
        <NumberField
          {...anyNumber}
          aria-label={name}
          error={problem !== undefined}
          min={min}
          max={max}
          value={numberOf(value)}
          onChange={onChange}
          w={92}
        />
      </Group>
    </InputWrapper>
  );
}
