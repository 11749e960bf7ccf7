/**
 * OTA addresses that approve devices without a code, for batches. Administrators create and revoke
 * them.
 */
import { useState } from 'react';
import { Button } from '@mantine/core';
import { IconLink } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useHubQuery } from '../../hub/use-hub-query';
import { type Column, DataTable } from '../../parts/table/data-table';
import { MutationFailureNotice, LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { EnrolmentLinksDocument, type EnrolmentLinksQuery, RevokeEnrolmentLinkDocument } from './generated/links';
import { NewLinkDialog } from './new-link-dialog';

type EnrolmentLink = EnrolmentLinksQuery['enrolmentLinks'][number];

export function Links() {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: EnrolmentLinksDocument, variables: {} });
  const [isNew, setNew] = useState(false);
  const revoke = useHubMutation(RevokeEnrolmentLinkDocument, (answer) => answer.revokeEnrolmentLink.userErrors);
  const columns = useColumns(async ({ id }) => {
    if (await revoke.run({ id })) refresh();
  });
  const live = (data?.enrolmentLinks ?? []).filter(({ revokedAt }) => revokedAt === null);
  return (
    <Section
      title={t('enrolments.links')}
      actions={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconLink size={15} aria-hidden />}
          onClick={() => setNew(true)}
        >
          {t('enrolments.newLink')}
        </Button>
      }
    >
      <p className="soft">{t('enrolments.linksHint')}</p>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <MutationFailureNotice failure={revoke.failure} />
      {live.length > 0 && (
        <DataTable
          label={t('enrolments.links')}
          columns={columns}
          rows={live}
          rowKey={({ id }) => id}
          maxHeight="300px"
        />
      )}
      {isNew && <NewLinkDialog onClose={() => setNew(false)} onMade={refresh} />}
    </Section>
  );
}

function useColumns(onRevoke: (link: EnrolmentLink) => Promise<void>): readonly Column<EnrolmentLink>[] {
  const { t } = useTranslation();
  return [
    { id: 'name', header: t('enrolments.linkName'), width: 140, cell: ({ name }) => name },
    { id: 'tags', header: t('enrolments.tags'), width: 140, cell: ({ tags }) => tags.join(', ') || t('common.none') },
    {
      id: 'used',
      header: t('enrolments.used'),
      ...{ width: 90, grow: 0, isNumeric: true },
      cell: ({ usedCount, maxDevices }) => t('enrolments.usedOf', { used: usedCount, all: maxDevices }),
    },
    {
      id: 'expires',
      header: t('enrolments.expires'),
      width: 110,
      grow: 0,
      cell: ({ expiresAt }) => <Time at={expiresAt} />,
    },
    {
      id: 'revoke',
      header: '',
      ...{ width: 80, grow: 0 },
      cell: (link) => (
        <Button size="compact-xs" variant="default" onClick={() => void onRevoke(link)}>
          {t('access.revoke')}
        </Button>
      ),
    },
  ];
}
