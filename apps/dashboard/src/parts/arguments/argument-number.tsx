/** A number as it is typed: undefined while it is empty or no more than a sign. */
import { useState } from 'react';
import { NumberInput, type NumberInputProps } from '@mantine/core';
import { numberIn, shownNumber } from '../number/typed-number';

export interface ArgumentNumberProps extends Omit<NumberInputProps, 'value' | 'onChange' | 'onBlur' | 'clampBehavior'> {
  readonly value: unknown;
  readonly onChange: (value: number | undefined) => void;
}

export function ArgumentNumber({ value, onChange, ...props }: ArgumentNumberProps) {
  const number = typeof value === 'number' ? value : undefined;
  const [typed, setTyped] = useState<number | string>(number ?? '');
  return (
    <NumberInput
      {...props}
      // What is out of bounds is for the device to judge.
      clampBehavior="none"
      value={shownNumber({ typed, value: number, fallback: undefined })}
      onChange={(text) => {
        setTyped(text);
        onChange(numberIn(text));
      }}
      onBlur={() => setTyped(number ?? '')}
    />
  );
}
