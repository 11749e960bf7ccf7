/** A field that filters a list. Its text is in the address, and follows it. */
import { useEffect, useState } from 'react';
import { TextInput, type TextInputProps } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { isNews, textOf, withArrived, withSent, withTyped } from './typed-text';

/** Ms after the last key before the hub is asked. */
const typingMs = 250;

interface SearchFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'type'> {
  /** As the address has it. */
  readonly value: string;
  /** Gets the text without spaces around it. */
  readonly onChange: (text: string) => void;
}

export function SearchField({ value, onChange, ...props }: SearchFieldProps) {
  const [typed, setTyped] = useState(() => textOf(value));
  const send = useDebouncedCallback((text: string) => {
    setTyped((former) => withSent(former, text, value));
    if (isNews(typed, text, value)) onChange(text);
  }, typingMs);
  // The address changes by itself, too: a link, the browser's way back.
  useEffect(() => setTyped((former) => withArrived(former, value)), [value]);
  // What was typed before such a change is not sent after it.
  useEffect(() => {
    if (!typed.isPending) send.cancel();
  }, [typed.isPending, send]);
  return (
    <TextInput
      {...props}
      type="search"
      value={typed.text}
      onChange={(event) => {
        const text = event.currentTarget.value;
        setTyped((former) => withTyped(former, text));
        send(text.trim());
      }}
      // The button of a form around it may be the next.
      onBlur={() => send.flush()}
    />
  );
}
