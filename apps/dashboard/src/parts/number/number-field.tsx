/** A number with its bounds; empty is undefined where that means something. */
import { useState } from 'react';
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { numberIn, numberWithin, shownNumber } from './typed-number';

interface NumberFieldProps extends Pick<
  NumberInputProps,
  | 'label'
  | 'aria-label'
  | 'description'
  | 'placeholder'
  | 'error'
  | 'suffix'
  | 'w'
  | 'maw'
  | 'allowDecimal'
  | 'allowNegative'
  | 'required'
  | 'withAsterisk'
  | 'inputWrapperOrder'
  | 'clampBehavior'
> {
  readonly value: number | undefined;
  readonly min?: number;
  readonly max?: number;
  /** What an empty field stands for. */
  readonly fallback?: number;
  readonly onChange: (value: number | undefined) => void;
}

export function NumberField({ value, fallback, onChange, ...props }: NumberFieldProps) {
  const [typed, setTyped] = useState<number | string>(value ?? '');
  const { min, max, clampBehavior = 'blur' } = props;
  const clamp = () => {
    const within = value === undefined ? undefined : numberWithin(value, { min, max });
    if (clampBehavior === 'blur' && within !== value) onChange(within);
  };
  return (
    <NumberInput
      w={220}
      maw="100%"
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      allowDecimal={false}
      allowNegative={false}
      clampBehavior="blur"
      {...props}
      value={shownNumber({ typed, value, fallback })}
      onChange={(text) => {
        setTyped(text);
        onChange(numberIn(text) ?? fallback);
      }}
      onBlur={() => setTyped(value ?? '')}
      // Enter sends the form while the field keeps the focus.
      onKeyDown={(event) => event.key === 'Enter' && clamp()}
    />
  );
}
