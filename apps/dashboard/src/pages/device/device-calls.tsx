/** What was asked of the device, latest first, and what it said. */
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Stack } from '@mantine/core';
import { IconTool } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { type Page as PageOfRows, type Pages, usePages } from '../../hub/use-pages';
import { CallResult } from '../../parts/outcome/call-result';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { Json } from '../../parts/json';
import { OutcomeBadge } from '../../parts/outcome/outcome-badge';
import { Time } from '../../parts/time';
import classes from './device.module.css';
import { type CallLineFragment, DeviceCallsDocument, type DeviceCallsQuery } from './generated/device';

/** Ms. */
const refreshMs = 4_000;
/** As asked for. */
const pageRows = 50;

export function DeviceCalls({ deviceId }: { readonly deviceId: string }) {
  const { t, i18n } = useTranslation();
  const variables = useCallback((after: string | null) => ({ filter: { deviceId }, after }), [deviceId]);
  const pages = usePages({ query: DeviceCallsDocument, variables, pageOf });
  useRefreshed(pages);
  const [looked, setLooked] = useState<CallLineFragment>();
  const columns = useMemo(() => columnsOf(t, i18n.language, setLooked), [t, i18n.language]);
  if (pages.error) return <LoadFailure error={pages.error} onRetry={pages.refresh} />;
  if (pages.rows.length === 0 && !pages.isLoading) return <Empty icon={IconTool} title={t('device.noCalls')} />;
  return (
    <>
      <DataTable
        label={t('device.tabs.calls')}
        columns={columns}
        rows={pages.rows}
        rowKey={({ id }) => id}
        hasMore={pages.hasMore}
        onEnd={pages.loadMore}
      />
      {looked && <CallDialog call={looked} onClose={() => setLooked(undefined)} />}
    </>
  );
}

function columnsOf(
  t: TFunction,
  language: string,
  onChoose: (call: CallLineFragment) => void,
): readonly Column<CallLineFragment>[] {
  return [
    {
      id: 'at',
      header: t('call.at'),
      width: 150,
      grow: 0,
      cell: ({ startedAt }) => <Time at={startedAt} form="exact" />,
    },
    {
      id: 'tool',
      header: t('call.tool'),
      width: 240,
      grow: 2,
      cell: (row) => (
        <button type="button" className={`${classes.plain} cut`} onClick={() => onChoose(row)}>
          {row.tool}
        </button>
      ),
    },
    {
      id: 'outcome',
      header: t('call.outcome'),
      width: 140,
      cell: ({ outcome }) => <OutcomeBadge outcome={outcome ?? 'IN_FLIGHT'} />,
    },
    {
      id: 'arguments',
      header: t('call.arguments'),
      width: 160,
      cell: (row) => <code>{JSON.stringify(row.arguments)}</code>,
    },
    {
      id: 'duration',
      header: t('call.duration'),
      width: 80,
      grow: 0,
      isNumeric: true,
      cell: ({ durationMs }) =>
        durationMs === null ? t('common.none') : new Intl.NumberFormat(language).format(Math.round(durationMs)),
    },
    { id: 'actor', header: t('call.actor'), width: 110, cell: ({ actor }) => actor },
  ];
}

function CallDialog({ call, onClose }: { readonly call: CallLineFragment; readonly onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog title={call.tool} size="lg" onClose={onClose}>
      <Stack>
        {call.jobId !== null && (
          <Link to="/jobs/$id" params={{ id: call.jobId }}>
            {t('call.ofJob')}
          </Link>
        )}
        <Json label={t('call.arguments')} value={call.arguments} />
        <CallResult call={call} />
      </Stack>
    </Dialog>
  );
}

/** There is no subscription for calls, so the page polls while it shows the latest ones. */
function useRefreshed({ rows, isLoading, refresh }: Pages<CallLineFragment>): void {
  const isAtLatest = rows.length <= pageRows && !isLoading;
  useEffect(() => {
    if (!isAtLatest) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') refresh();
    }, refreshMs);
    return () => clearInterval(timer);
  }, [isAtLatest, refresh]);
}

function pageOf({ calls: { nodes, pageInfo } }: DeviceCallsQuery): PageOfRows<CallLineFragment> {
  return { rows: nodes, endCursor: pageInfo.endCursor, hasNextPage: pageInfo.hasNextPage };
}
