/** Properties of a field or button for a file, which can be chosen again after a refusal. */
import { type RefObject, useRef } from 'react';

interface ChosenFile {
  readonly resetRef: RefObject<(() => void) | null>;
  readonly onChange: (file: File | null) => void;
}

export function useChosenFile(onChoose: (file: File | null) => void): ChosenFile {
  const resetRef = useRef<() => void>(null);
  const onChange = (file: File | null) => {
    // A browser reports no change where the same file is chosen again.
    resetRef.current?.();
    onChoose(file);
  };
  return { resetRef, onChange };
}
