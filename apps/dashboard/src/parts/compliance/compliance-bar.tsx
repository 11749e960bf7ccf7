/** How many devices are in each compliance state: one bar, and a legend with icon and word. */
import { useTranslation } from 'react-i18next';
import { CountBar } from '../outcome/count-bar';
import { type ComplianceCounts } from './compliance-counts';
import { complianceLooks, complianceStates } from './compliance-looks';

interface ComplianceBarProps {
  readonly counts: ComplianceCounts;
  /** The bar alone, for rows of lists; its label has the figures then. */
  readonly isBare?: boolean;
}

export function ComplianceBar({ counts, isBare = false }: ComplianceBarProps) {
  const { t } = useTranslation();
  const parts = complianceStates.map((state) => ({
    key: state,
    name: t(`compliance.${state}`),
    count: counts[state],
    ...complianceLooks[state],
  }));
  return <CountBar parts={parts} isBare={isBare} />;
}
