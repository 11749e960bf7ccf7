/** How many targets ended with each outcome: one bar, and a legend with icon, word and number. */
import { useTranslation } from 'react-i18next';
import { CountBar } from './count-bar';
import { type OutcomeOrStage, outcomeLooks } from './outcome-badge';

export type OutcomeCounts = Readonly<Partial<Record<OutcomeOrStage, number>>>;

interface OutcomeBarProps {
  readonly counts: OutcomeCounts;
  /** The bar alone, for rows of lists; its label says the figures then. */
  readonly isBare?: boolean;
}

const outcomesInOrder = Object.keys(outcomeLooks) as readonly OutcomeOrStage[];

export function OutcomeBar({ counts, isBare = false }: OutcomeBarProps) {
  const { t } = useTranslation();
  const parts = outcomesInOrder.map((outcome) => ({
    key: outcome,
    name: t(`outcome.${outcome}`),
    count: counts[outcome] ?? 0,
    ...outcomeLooks[outcome],
    fill: fillOf(outcome),
  }));
  return <CountBar parts={parts} isBare={isBare} />;
}

/** Returns the fill of an outcome; undecided targets have a weaker fill. */
export function fillOf(outcome: OutcomeOrStage): string {
  if (outcome === 'PENDING' || outcome === 'WAITING_DEVICE') return 'waiting-fill';
  return `${outcomeLooks[outcome].token}-fill`;
}
