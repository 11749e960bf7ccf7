/** The state of a desired state on one device: icon and word on a wash. */
import { useTranslation } from 'react-i18next';
import classes from '../badge.module.css';
import { badgeColours } from '../outcome/outcome-badge';
import { complianceLooks, type ComplianceState } from './compliance-looks';

export function ComplianceBadge({ state }: { readonly state: ComplianceState }) {
  const { t } = useTranslation();
  const { token, icon: Shape } = complianceLooks[state];
  return (
    <span className={classes.badge} style={badgeColours(token)}>
      <Shape size={13} stroke={2.2} aria-hidden />
      {t(`compliance.${state}`)}
    </span>
  );
}
