/** A button that opens the choice of a file. */
import { type ReactNode, useRef } from 'react';
import { FileButton, type FileButtonProps } from '@mantine/core';

export interface ChooseFileProps extends Pick<FileButtonProps, 'accept' | 'disabled' | 'inputProps'> {
  readonly onChoose: (file: File | null) => void;
  readonly children: (props: { readonly onClick: () => void }) => ReactNode;
}

export function ChooseFile({ onChoose, ...props }: ChooseFileProps) {
  const reset = useRef<() => void>(null);
  return (
    <FileButton
      {...props}
      resetRef={reset}
      onChange={(file) => {
        // A browser reports no change where the same file is chosen again, such as after a refusal.
        reset.current?.();
        onChoose(file);
      }}
    />
  );
}
