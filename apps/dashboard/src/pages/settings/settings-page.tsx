/** What people set comes first, then how the hub itself is. */
import { useTranslation } from 'react-i18next';
import { useScope, useViewer } from '../../hub/hub';
import { Page } from '../../parts/page';
import { Agents } from '../access/agents';
import { Health } from './health';
import { Policies } from './policies';
import { VoiceServers } from './voice-servers';

export function SettingsPage() {
  const { t } = useTranslation();
  const isAdmin = useScope('ADMIN');
  const { user } = useViewer();
  return (
    <Page title={t('settings.title')} lead={t('settings.lead')}>
      <Policies mayChange={isAdmin} />
      {!isAdmin && user && <Agents />}
      {isAdmin && <VoiceServers />}
      {isAdmin && <Health />}
    </Page>
  );
}
