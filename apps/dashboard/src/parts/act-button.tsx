/** A button with a symbol before its words, for an act that is not the main one of its page. */
import type { ComponentPropsWithRef } from 'react';
import { Button, type ButtonProps } from '@mantine/core';
import type { Icon } from '@tabler/icons-react';

interface ActButtonProps extends Omit<ComponentPropsWithRef<'button'>, keyof ButtonProps>, ButtonProps {
  readonly icon: Icon;
}

export function ActButton({ icon: Shape, size, ...props }: ActButtonProps) {
  const symbol = <Shape size={size === 'xs' ? 15 : 16} aria-hidden />;
  return <Button variant="default" {...(size !== undefined && { size })} leftSection={symbol} {...props} />;
}
