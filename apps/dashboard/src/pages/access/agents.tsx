/** Agents that people connected over OAuth. Administrators see all, other people their own. */
import { useState } from 'react';
import { Button } from '@mantine/core';
import { IconPlug } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useHubQuery } from '../../hub/use-hub-query';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Time } from '../../parts/time/time';
import { AgentGrantsDocument, type AgentGrantsQuery, RevokeAgentGrantDocument } from './generated/agents';
import { KeyDevices } from './key-devices';

type Agent = AgentGrantsQuery['agentGrants'][number];

export function Agents() {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: AgentGrantsDocument, variables: {} });
  const [revoked, setRevoked] = useState<Agent>();
  const revoke = useHubMutation(RevokeAgentGrantDocument, (answer) => answer.revokeAgentGrant.userErrors);
  const columns = useColumns(setRevoked);
  const agents = data?.agentGrants;
  return (
    <Section title={t('access.agents')}>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {agents?.length === 0 && (
        <Empty icon={IconPlug} title={t('access.noAgents')}>
          {t('access.noAgentsHint')}
        </Empty>
      )}
      {agents && agents.length > 0 && (
        <DataTable
          label={t('access.agents')}
          columns={columns}
          rows={agents}
          rowKey={({ id }) => id}
          maxHeight="420px"
        />
      )}
      <ConfirmMutation
        mutation={revoke}
        variables={revoked && { id: revoked.id }}
        title={t('access.disconnectTitle', { name: revoked?.clientName ?? '' })}
        text={t('access.disconnectText')}
        act={t('access.disconnect')}
        keep={t('keep.agent')}
        onClose={() => setRevoked(undefined)}
        onDone={refresh}
      />
    </Section>
  );
}

function useColumns(onRevoke: (agent: Agent) => void): readonly Column<Agent>[] {
  const { t } = useTranslation();
  return [
    {
      id: 'client',
      header: t('access.client'),
      width: 180,
      cell: ({ clientName, clientHost }) => (
        <span title={clientHost}>
          {clientName} <span className="soft">({clientHost})</span>
        </span>
      ),
    },
    {
      id: 'person',
      header: t('access.person'),
      width: 150,
      cell: ({ userName, userEmail }) => userEmail ?? userName,
    },
    {
      id: 'scopes',
      header: t('access.scopes'),
      width: 200,
      grow: 2,
      cell: ({ scopes }) => <code>{scopes.join(' ')}</code>,
    },
    { id: 'devices', header: t('access.devices'), width: 160, cell: ({ devices }) => <KeyDevices filter={devices} /> },
    {
      id: 'used',
      header: t('access.lastUsed'),
      width: 110,
      grow: 0,
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? t('common.never') : <Time at={lastUsedAt} />),
    },
    {
      id: 'revoke',
      header: '',
      width: 110,
      grow: 0,
      isStuck: true,
      cell: (agent) => (
        <Button size="compact-xs" variant="default" onClick={() => onRevoke(agent)}>
          {t('access.disconnect')}
        </Button>
      ),
    },
  ];
}
