/** What was asked of the device, latest first, and what it said. */
import { useMemo } from 'react';
import { IconTool } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { CallList } from '../../parts/calls/call-list';
import { Empty } from '../../parts/empty';

export function DeviceCalls({ deviceId }: { readonly deviceId: string }) {
  const { t } = useTranslation();
  const filter = useMemo(() => ({ deviceId }), [deviceId]);
  return (
    <CallList
      filter={filter}
      label={t('device.tabs.calls')}
      empty={<Empty icon={IconTool} title={t('device.noCalls')} />}
    />
  );
}
