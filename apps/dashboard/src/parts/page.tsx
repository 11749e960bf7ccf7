/**
 * The frame of every page: its title as the only h1 and as the window title, a description, and
 * actions. Takes the focus after navigation.
 */
import { type ReactNode, type Ref, useEffect, useRef, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { firingCount } from './alert/firing-count';
import classes from './page.module.css';

interface PageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** Beside the title, at the end of the line. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, lead, actions, children }: PageProps) {
  const { t } = useTranslation();
  const heading = useRef<HTMLHeadingElement>(null);
  const firing = useSyncExternalStore(firingCount.subscribe, firingCount.get);
  useEffect(() => {
    document.title = `${firing > 0 ? `(${firing}) ` : ''}${title} · ${t('app.name')}`;
  }, [firing, title, t]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <div className={classes.titles}>
          <h1 ref={heading} tabIndex={-1} className={classes.title}>
            {title}
          </h1>
          {lead !== undefined && <div className={classes.lead}>{lead}</div>}
        </div>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  /** Where the focus goes to the heading. */
  readonly headingRef?: Ref<HTMLHeadingElement>;
  readonly children: ReactNode;
}

/** A card with a heading. */
export function Section({ title, actions, headingRef, children }: SectionProps) {
  return (
    <section className={classes.section} aria-label={title}>
      <div className={classes.sectionHead}>
        <h2 {...(headingRef && { ref: headingRef, tabIndex: -1 })} className={classes.sectionTitle}>
          {title}
        </h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
