/** Tool policy: what an operator knows about tools, which calls and jobs rely on. */
import { useState } from 'react';
import { Button, Group } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useHubQuery } from '../../hub/use-hub-query';
import { ActButton } from '../../parts/act-button';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { type Column, DataTable } from '../../parts/table/data-table';
import { LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { DeleteToolPolicyDocument, PoliciesDocument, type PoliciesQuery } from './generated/settings';
import { PolicyDialog } from './policy-dialog';

type Policy = PoliciesQuery['toolPolicies'][number];

export function Policies({ mayChange }: { readonly mayChange: boolean }) {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: PoliciesDocument, variables: {} });
  const [edited, setEdited] = useState<Policy | 'new'>();
  const [leaving, setLeaving] = useState<Policy>();
  const remove = useHubMutation(DeleteToolPolicyDocument, (answer) => answer.deleteToolPolicy.userErrors);
  const columns = useColumns(mayChange, setEdited, setLeaving);
  return (
    <Section
      title={t('settings.policies')}
      actions={
        mayChange && (
          <ActButton size="xs" icon={IconPlus} onClick={() => setEdited('new')}>
            {t('settings.addPolicy')}
          </ActButton>
        )
      }
    >
      <p className="soft">{t('settings.policiesHint')}</p>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data && (
        <DataTable
          label={t('settings.policies')}
          columns={columns}
          rows={data.toolPolicies}
          rowKey={({ pattern }) => pattern}
          maxHeight="560px"
        />
      )}
      {edited && (
        <PolicyDialog
          key={edited === 'new' ? '' : edited.pattern}
          policy={edited === 'new' ? undefined : edited}
          policies={data?.toolPolicies ?? []}
          onEdit={setEdited}
          onClose={() => setEdited(undefined)}
          onSaved={refresh}
        />
      )}
      <ConfirmMutation
        mutation={remove}
        variables={leaving && { pattern: leaving.pattern }}
        title={t('settings.deletePolicy', { pattern: leaving?.pattern ?? '' })}
        text={t('settings.deletePolicyText')}
        act={t('devices.delete')}
        keep={t('keep.policy')}
        onClose={() => setLeaving(undefined)}
        onDone={refresh}
      />
    </Section>
  );
}

function useColumns(
  mayChange: boolean,
  onEdit: (policy: Policy) => void,
  onDelete: (policy: Policy) => void,
): readonly Column<Policy>[] {
  const { t, i18n } = useTranslation();
  const said = (isSo: boolean) => t(isSo ? 'settings.yes' : 'settings.no');
  const seconds = new Intl.NumberFormat(i18n.language, { style: 'unit', unit: 'second' });
  return [
    {
      id: 'pattern',
      header: t('settings.pattern'),
      width: 230,
      grow: 2,
      cell: ({ pattern }) => <code>{pattern}</code>,
    },
    {
      id: 'idempotent',
      header: t('settings.idempotent'),
      width: 96,
      grow: 0,
      cell: ({ idempotent }) => said(idempotent),
    },
    {
      id: 'disruptive',
      header: t('settings.disruptive'),
      width: 96,
      grow: 0,
      cell: ({ disruptive }) => said(disruptive),
    },
    {
      id: 'verification',
      header: t('settings.verification'),
      width: 120,
      cell: ({ verification }) => t(`settings.verifications.${verification}`),
    },
    {
      id: 'timeout',
      header: t('settings.timeout'),
      width: 90,
      grow: 0,
      isNumeric: true,
      cell: ({ callTimeoutMs }) => seconds.format(callTimeoutMs / 1_000),
    },
    ...(mayChange
      ? [
          {
            id: 'acts',
            header: '',
            width: 104,
            grow: 0,
            isStuck: true,
            cell: (policy: Policy) => (
              <Group gap={4} wrap="nowrap">
                <Button size="compact-xs" variant="default" onClick={() => onEdit(policy)}>
                  {t('access.edit')}
                </Button>
                <Button size="compact-xs" variant="default" onClick={() => onDelete(policy)}>
                  {t('devices.delete')}
                </Button>
              </Group>
            ),
          },
        ]
      : []),
  ];
}
