/** What people set comes first, then how the hub itself is. */
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { Page } from '../../parts/page';
import { Health } from './health';
import { Policies } from './policies';
import { VoiceServers } from './voice-servers';

export function SettingsPage() {
  const { t } = useTranslation();
  const isAdmin = useScope('ADMIN');
  return (
    <Page title={t('settings.title')} lead={t('settings.lead')}>
      <Policies mayChange={isAdmin} />
      {isAdmin && <VoiceServers />}
      {isAdmin && <Health />}
    </Page>
  );
}
