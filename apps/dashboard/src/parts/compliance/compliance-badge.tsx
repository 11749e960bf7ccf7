/** The state of a desired state on one device: icon and word on a wash. */
import { useTranslation } from 'react-i18next';
import { Badge } from '../badge';
import { complianceLooks, type ComplianceState } from './compliance-looks';

export function ComplianceBadge({ state }: { readonly state: ComplianceState }) {
  const { t } = useTranslation();
  return <Badge look={complianceLooks[state]}>{t(`compliance.${state}`)}</Badge>;
}
