/** A word with an icon, in the colours of a state. Icons differ in shape: colour is never alone. */
import type { CSSProperties, ReactNode } from 'react';
import type { Icon } from '@tabler/icons-react';
import classes from './badge.module.css';

export interface BadgeLook {
  readonly token: string;
  readonly icon: Icon;
}

interface BadgeProps {
  readonly look: BadgeLook;
  readonly children: ReactNode;
}

export function Badge({ look: { token, icon: Shape }, children }: BadgeProps) {
  return (
    <span className={classes.badge} style={badgeColours(token)}>
      <Shape size={13} stroke={2.2} aria-hidden />
      {children}
    </span>
  );
}

/** The token's text colour on its wash. */
export function badgeColours(token: string): CSSProperties {
  return { color: `var(--${token})`, background: `var(--${token}-wash)` };
}
