/**
 * Hides rarely needed content behind its title. Initially open if it holds something that must be
 * seen.
 */
import { type ReactNode, useEffect, useRef } from 'react';
import { IconChevronRight } from '@tabler/icons-react';
import classes from './disclosure.module.css';

interface DisclosureProps {
  readonly title: string;
  /** What is in it, in a few words: read while it is closed. */
  readonly hint?: string;
  /** Opens it from outside, as for a field with an error. */
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

export function Disclosure({ title, hint, isOpen = false, children }: DisclosureProps) {
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (isOpen && element.current) element.current.open = true;
  }, [isOpen]);
  return (
    <details ref={element} className={classes.details}>
      <summary className={classes.summary}>
        <IconChevronRight size={16} className={classes.arrow} aria-hidden />
        <span className={classes.title}>{title}</span>
        {hint !== undefined && <span className="soft">{hint}</span>}
      </summary>
      <div className={classes.body}>{children}</div>
    </details>
  );
}
