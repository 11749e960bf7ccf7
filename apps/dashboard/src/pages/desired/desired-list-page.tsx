/** All desired states: what each sets, and how many devices have it. */
import { useMemo } from 'react';
import { IconAdjustmentsCheck, IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { onlyAfter, usePages } from '../../hub/lists/use-pages';
import { ComplianceBar } from '../../parts/compliance/compliance-bar';
import { countsOf, outOfSyncOf } from '../../parts/compliance/compliance-counts';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { LinkButton } from '../../parts/link-button';
import { Page } from '../../parts/page';
import { type Column, DataTable } from '../../parts/table/data-table';
import { DesiredBadge } from './desired-badge';
import { DesiredStatesDocument, type DesiredLineFragment, type DesiredStatesQuery } from './generated/desired';
import { SettingText } from './setting-text';
import { WindowText } from './window-text';

/** Ms between two looks while the page is visible. */
const refreshMs = 3_000;

export function DesiredListPage() {
  const { t } = useTranslation();
  const [mayRun, mayCall] = [useScope('JOBS_WRITE'), useScope('TOOLS_CALL')];
  const pages = usePages({ query: DesiredStatesDocument, variables: onlyAfter, listOf, refreshMs });
  const { rows, error, isLoading, refresh } = pages;
  const columns = useColumns();
  return (
    <Page
      title={t('desired.title')}
      lead={t('desired.lead')}
      actions={
        mayRun &&
        mayCall && (
          <LinkButton to="/desired/new" leftSection={<IconPlus size={16} aria-hidden />}>
            {t('desired.new')}
          </LinkButton>
        )
      }
    >
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {rows.length > 0 && (
        <DataTable
          label={t('desired.title')}
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
        />
      )}
      {rows.length === 0 && !isLoading && !error && (
        <Empty icon={IconAdjustmentsCheck} title={t('desired.empty')}>
          {t('desired.emptyHint')}
        </Empty>
      )}
    </Page>
  );
}

function useColumns() {
  const { t, i18n } = useTranslation();
  return useMemo<readonly Column<DesiredLineFragment>[]>(() => {
    const number = new Intl.NumberFormat(i18n.language);
    return [
      {
        id: 'name',
        header: t('desired.name'),
        width: 140,
        grow: 2,
        cell: ({ id, name }) => (
          <Link to="/desired/$id" params={{ id }}>
            {name}
          </Link>
        ),
      },
      { id: 'state', header: t('desired.state'), width: 120, grow: 0, cell: (state) => <DesiredBadge state={state} /> },
      { id: 'sets', header: t('desired.sets'), width: 236, grow: 3, cell: (state) => <SettingText state={state} /> },
      {
        id: 'compliance',
        header: t('desired.compliance'),
        width: 74,
        grow: 2,
        cell: ({ summary }) => <ComplianceBar counts={countsOf(summary)} isBare />,
      },
      {
        id: 'inSync',
        header: t('compliance.IN_SYNC'),
        width: 90,
        grow: 0,
        isNumeric: true,
        cell: ({ summary }) => t('desired.share', { count: summary.inSync, total: summary.targeted }),
      },
      {
        id: 'out',
        header: t('desired.outOfSync'),
        width: 80,
        grow: 0,
        isNumeric: true,
        cell: ({ summary }) => number.format(outOfSyncOf(summary)),
      },
      {
        id: 'window',
        header: t('desired.window'),
        width: 100,
        cell: ({ window }) => <WindowText window={window} />,
      },
    ];
  }, [t, i18n.language]);
}

const listOf = ({ desiredStates }: DesiredStatesQuery) => desiredStates;
