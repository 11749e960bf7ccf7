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
import { ActButton } from '../../parts/act-button';
import { type Column, DataTable } from '../../parts/table/data-table';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { EnrolmentLinksDocument, type EnrolmentLinksQuery, RevokeEnrolmentLinkDocument } from './generated/links';
import { endOf } from './link-end';
import { NewLinkDialog } from './new-link-dialog';

type EnrolmentLink = EnrolmentLinksQuery['enrolmentLinks'][number];

/** Ms: devices use a link, and it ends, while the page is open. */
const refreshMs = 15_000;

export function Links() {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: EnrolmentLinksDocument, variables: {}, refreshMs });
  const [isNew, setNew] = useState(false);
  const [revoked, setRevoked] = useState<EnrolmentLink>();
  const revoke = useHubMutation(RevokeEnrolmentLinkDocument, (answer) => answer.revokeEnrolmentLink.userErrors);
  const columns = useColumns(setRevoked);
  const live = (data?.enrolmentLinks ?? []).filter(({ revokedAt }) => revokedAt === null);
  return (
    <Section
      title={t('enrolments.links')}
      actions={
        <ActButton size="xs" icon={IconLink} onClick={() => setNew(true)}>
          {t('enrolments.newLink')}
        </ActButton>
      }
    >
      <p className="soft">{t('enrolments.linksHint')}</p>
      {error && <LoadFailure error={error} onRetry={refresh} />}
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
      <ConfirmMutation
        mutation={revoke}
        variables={revoked && { id: revoked.id }}
        title={t('enrolments.revokeTitle', { name: revoked?.name ?? '' })}
        text={t('enrolments.revokeText')}
        act={t('enrolments.revoke')}
        keep={t('keep.link')}
        onClose={() => setRevoked(undefined)}
        onDone={refresh}
      />
    </Section>
  );
}

/** When it ends, or that it has ended. */
function Expiry({ link }: { readonly link: EnrolmentLink }) {
  const { t } = useTranslation();
  const end = endOf(link);
  if (end === undefined) return <Time at={link.expiresAt} />;
  return (
    <span className="soft">
      {t(`enrolments.ended.${end}`)} {end === 'expired' && <Time at={link.expiresAt} />}
    </span>
  );
}

function useColumns(onRevoke: (link: EnrolmentLink) => void): readonly Column<EnrolmentLink>[] {
  const { t } = useTranslation();
  return [
    { id: 'name', header: t('enrolments.linkName'), width: 140, cell: ({ name }) => name },
    {
      id: 'tags',
      header: t('enrolments.tags'),
      width: 140,
      cell: ({ tags }) => tags.join(t('mark.listed')) || t('common.none'),
    },
    {
      id: 'used',
      header: t('enrolments.used'),
      width: 90,
      grow: 0,
      isNumeric: true,
      cell: ({ usedCount, maxDevices }) => t('enrolments.usedOf', { used: usedCount, all: maxDevices }),
    },
    {
      id: 'expires',
      header: t('enrolments.expires'),
      width: 150,
      grow: 0,
      cell: (link) => <Expiry link={link} />,
    },
    {
      id: 'revoke',
      header: '',
      width: 80,
      grow: 0,
      isStuck: true,
      cell: (link) =>
        endOf(link) === undefined && (
          <Button size="compact-xs" variant="default" onClick={() => onRevoke(link)}>
            {t('access.revoke')}
          </Button>
        ),
    },
  ];
}
