/** Instead of a desired state that the hub does not have, or does not show to this key. */
import { IconAdjustmentsCheck } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Empty } from '../../parts/empty';

export function NoSuchState() {
  const { t } = useTranslation();
  return (
    <Empty
      icon={IconAdjustmentsCheck}
      title={t('desired.unknown')}
      action={<Link to="/desired">{t('nav.desired')}</Link>}
    >
      {t('desired.unknownHint')}
    </Empty>
  );
}
