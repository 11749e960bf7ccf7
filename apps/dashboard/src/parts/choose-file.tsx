/** A button that opens the choice of a file. */
import type { ReactNode } from 'react';
import { FileButton, type FileButtonProps } from '@mantine/core';
import { useChosenFile } from './use-chosen-file';

interface ChooseFileProps extends Pick<FileButtonProps, 'accept' | 'disabled' | 'inputProps'> {
  readonly onChoose: (file: File | null) => void;
  readonly children: (props: { readonly onClick: () => void }) => ReactNode;
}

export function ChooseFile({ onChoose, ...props }: ChooseFileProps) {
  return <FileButton {...props} {...useChosenFile(onChoose)} />;
}
