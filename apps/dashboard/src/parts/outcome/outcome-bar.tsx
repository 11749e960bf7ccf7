/** How many targets ended with each outcome: one bar, and a legend with icon, word and number. */
import { useTranslation } from 'react-i18next';
import { type OutcomeOrStage, outcomeLooks } from './outcome-badge';
import classes from './outcome-bar.module.css';

export type OutcomeCounts = Readonly<Partial<Record<OutcomeOrStage, number>>>;

export interface OutcomeBarProps {
  readonly counts: OutcomeCounts;
  /** The bar alone, for rows of lists; its label says the figures then. */
  readonly isBare?: boolean;
}

export const outcomesInOrder = Object.keys(outcomeLooks) as readonly OutcomeOrStage[];

export function OutcomeBar({ counts, isBare = false }: OutcomeBarProps) {
  const { t, i18n } = useTranslation();
  const shown = outcomesInOrder.filter((outcome) => (counts[outcome] ?? 0) > 0);
  const total = shown.reduce((sum, outcome) => sum + (counts[outcome] ?? 0), 0);
  const figures = new Intl.NumberFormat(i18n.language);
  const label = shown
    .map((outcome) => `${t(`outcome.${outcome}`)}: ${figures.format(counts[outcome] ?? 0)}`)
    .join(', ');
  return (
    <div>
      <div className={classes.bar} role="img" aria-label={label || t('common.none')}>
        {shown.map((outcome) => (
          <span
            key={outcome}
            className={classes.part}
            style={{ flexGrow: (counts[outcome] ?? 0) / Math.max(1, total), background: `var(--${fillOf(outcome)})` }}
          />
        ))}
      </div>
      {!isBare && (
        <ul className={classes.legend}>
          {shown.map((outcome) => (
            <LegendEntry key={outcome} outcome={outcome} count={figures.format(counts[outcome] ?? 0)} />
          ))}
        </ul>
      )}
    </div>
  );
}

function LegendEntry({ outcome, count }: { readonly outcome: OutcomeOrStage; readonly count: string }) {
  const { t } = useTranslation();
  const { token, icon: Shape } = outcomeLooks[outcome];
  return (
    <li className={classes.entry}>
      <span className={classes.swatch} style={{ background: `var(--${fillOf(outcome)})` }} aria-hidden />
      <Shape size={14} stroke={2.2} color={`var(--${token})`} aria-hidden />
      <span className={classes.name}>{t(`outcome.${outcome}`)}</span>
      <span className="figures">{count}</span>
    </li>
  );
}

/** Returns the fill of an outcome; undecided targets have a weaker fill. */
export function fillOf(outcome: OutcomeOrStage): string {
  if (outcome === 'PENDING' || outcome === 'WAITING_DEVICE') return 'waiting-fill';
  return `${outcomeLooks[outcome].token}-fill`;
}
