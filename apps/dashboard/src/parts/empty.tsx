/** Says that there is nothing, and what to do next. */
import type { ReactNode } from 'react';
import type { Icon } from '@tabler/icons-react';
import classes from './notice.module.css';

interface EmptyProps {
  readonly icon: Icon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

export function Empty({ icon: Shape, title, children, action }: EmptyProps) {
  return (
    <div className={classes.empty}>
      <Shape size={28} stroke={1.4} aria-hidden className={classes.emptyIcon} />
      <p className={classes.emptyTitle}>{title}</p>
      {children !== undefined && <div className={classes.emptyText}>{children}</div>}
      {action}
    </div>
  );
}
