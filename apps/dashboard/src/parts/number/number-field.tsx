/** A number with its bounds; empty is undefined where that means something. */
import { useState } from 'react';
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { numberIn, shownNumber } from './typed-number';

export interface NumberFieldProps extends Pick<
  NumberInputProps,
  'label' | 'description' | 'placeholder' | 'error' | 'suffix' | 'w' | 'allowDecimal' | 'allowNegative' | 'required'
> {
  readonly value: number | undefined;
  readonly min?: number;
  readonly max?: number;
  /** What an empty field stands for. */
  readonly fallback?: number;
  readonly onChange: (value: number | undefined) => void;
}

export function NumberField({ value, fallback, onChange, allowDecimal = false, w = 220, ...props }: NumberFieldProps) {
  const { allowNegative = false } = props;
  const [typed, setTyped] = useState<number | string>(value ?? '');
  return (
    <NumberInput
      {...props}
      w={w}
      maw="100%"
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      allowDecimal={allowDecimal}
      allowNegative={allowNegative}
      clampBehavior="blur"
      value={shownNumber({ typed, value, fallback })}
      onChange={(text) => {
        setTyped(text);
        onChange(numberIn(text) ?? fallback);
      }}
      onBlur={() => setTyped(value ?? '')}
    />
  );
}
