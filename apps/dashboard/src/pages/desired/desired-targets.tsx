/** The devices of a desired state by state, first those that are out of sync, and why. */
import { useCallback, useEffect, useMemo } from 'react';
import { Select } from '@mantine/core';
import { useThrottledCallback } from '@mantine/hooks';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { usePages } from '../../hub/lists/use-pages';
import { outOfSyncOf } from '../../parts/compliance/compliance-counts';
import { ComplianceBadge } from '../../parts/compliance/compliance-badge';
import { type ComplianceState, complianceStates, outOfSyncStates } from '../../parts/compliance/compliance-looks';
import { ComplianceReason } from '../../parts/compliance/compliance-reason';
import { LoadFailure } from '../../parts/failure';
import { Section } from '../../parts/page';
import { type Column, DataTable } from '../../parts/table/data-table';
import { NotRefreshed } from '../../parts/table/not-refreshed';
import { Time } from '../../parts/time/time';
import type { ShownDevices } from './shown-search';
import {
  DesiredTargetsDocument,
  type DesiredSummaryFragment,
  type DesiredTargetFragment,
  type DesiredTargetsQuery,
} from './generated/desired';

const route = getRouteApi('/desired/$id');

/** Ms between two looks while states change. */
const paceMs = 2_000;
/** The first page has as many: who has scrolled further is not thrown back. */
const pageSize = 100;

interface DesiredTargetsProps {
  readonly id: string;
  /** With another summary the list is read again. */
  readonly summary: DesiredSummaryFragment;
}

export function DesiredTargets({ id, summary }: DesiredTargetsProps) {
  const { t } = useTranslation();
  const { show: wanted = 'out' } = route.useSearch();
  const navigate = useNavigate({ from: '/desired/$id' });
  const show = (chosen: string | null) =>
    void navigate({
      search: chosen === null || chosen === 'out' ? {} : { show: chosen as ShownDevices },
      replace: true,
      resetScroll: false,
    });
  const variables = useCallback((after: string | null) => ({ id, states: statesOf(wanted), after }), [id, wanted]);
  const pages = usePages({ query: DesiredTargetsDocument, variables, listOf });
  const { refresh, rows } = pages;
  const look = useThrottledCallback(() => {
    if (rows.length <= pageSize) refresh();
  }, paceMs);
  useEffect(() => look(), [summary, look]);
  const columns = useColumns();
  // The list is read again and again; the summary is always there.
  const isKnown = wanted === 'out' ? outOfSyncOf(summary) === 0 : !pages.isLoading;
  return (
    <Section
      title={t('desired.targets')}
      actions={
        <Select
          aria-label={t('desired.show')}
          data={[
            ...(['out', 'all'] as const).map((value) => ({ value, label: t(`desired.shown.${value}`) })),
            ...complianceStates.map((value) => ({ value, label: t(`compliance.${value}`) })),
          ]}
          value={wanted}
          onChange={show}
          allowDeselect={false}
          size="xs"
          w={200}
        />
      }
    >
      {pages.error && <LoadFailure error={pages.error} onRetry={refresh} />}
      {rows.length > pageSize && <NotRefreshed most={pageSize} isLoading={pages.isLoading} onRefresh={refresh} />}
      {rows.length > 0 ? (
        <DataTable
          label={t('desired.targets')}
          columns={columns}
          rows={rows}
          rowKey={({ device }) => device.id}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
          maxHeight="520px"
        />
      ) : (
        isKnown && <p className="soft">{t(wanted === 'out' ? 'desired.allInSync' : 'desired.noneShown')}</p>
      )}
    </Section>
  );
}

function statesOf(wanted: string): ComplianceState[] | null {
  if (wanted === 'all') return null;
  return wanted === 'out' ? [...outOfSyncStates] : complianceStates.filter((state) => state === wanted);
}

function useColumns() {
  const { t } = useTranslation();
  return useMemo<readonly Column<DesiredTargetFragment>[]>(() => {
    const valueText = (value: unknown) => (value === null ? t('common.none') : JSON.stringify(value));
    return [
      {
        id: 'device',
        header: t('job.device'),
        width: 140,
        cell: ({ device: { id, name } }) => (
          <Link to="/devices/$id" params={{ id }}>
            {name ?? id}
          </Link>
        ),
      },
      {
        id: 'state',
        header: t('desired.state'),
        width: 150,
        grow: 0,
        cell: ({ state }) => <ComplianceBadge state={state} />,
      },
      { id: 'desired', header: t('desired.wanted'), width: 80, cell: ({ desired }) => valueText(desired) },
      { id: 'reported', header: t('desired.reported'), width: 80, cell: ({ reported }) => valueText(reported) },
      {
        id: 'why',
        header: t('desired.why'),
        width: 220,
        grow: 3,
        cell: (target) => <ComplianceReason target={target} />,
      },
      { id: 'since', header: t('desired.since'), width: 110, grow: 0, cell: ({ since }) => <Time at={since} /> },
    ];
  }, [t]);
}

const listOf = ({ desiredState }: DesiredTargetsQuery) => desiredState?.targets;
