/** The act of a button that copies, with the field that shows the text. */
import { type RefObject, useEffect, useRef, useState } from 'react';
import { type CopiedField, copyText } from './copy-text';

interface Copy<Field extends CopiedField> {
  readonly field: RefObject<Field | null>;
  readonly copy: () => void;
  /** For a short time. */
  readonly isCopied: boolean;
  /** The browser refused: the field is selected. */
  readonly isRefused: boolean;
}

/** Ms in which a button says that it has copied. */
const copiedMs = 1_000;

export function useCopy<Field extends CopiedField>(text: string): Copy<Field> {
  const field = useRef<Field>(null);
  const [last, setLast] = useState<{ readonly text: string; readonly isCopied: boolean }>();
  useEffect(() => {
    if (last?.isCopied !== true) return undefined;
    const timer = setTimeout(() => setLast(undefined), copiedMs);
    return () => clearTimeout(timer);
  }, [last]);
  const copy = async () => setLast({ text, isCopied: await copyText(text, field.current) });
  const ofText = last?.text === text ? last : undefined;
  return {
    field,
    copy: () => void copy(),
    isCopied: ofText?.isCopied === true,
    isRefused: ofText?.isCopied === false,
  };
}
