/** Calls that match a filter, latest first. A call expands to its arguments and its result. */
import { type ReactNode, useCallback, useMemo, useState } from 'react';
import { Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { usePages } from '../../hub/lists/use-pages';
import { useVisibleInterval } from '../../hub/use-visible-interval';
import { Dialog } from '../dialog/dialog';
import { LoadFailure } from '../failure';
import { HubWords } from '../hub-words';
import { Json } from '../json';
import { CallResult } from '../outcome/call-result';
import { OutcomeBadge } from '../outcome/outcome-badge';
import { type Column, DataTable } from '../table/data-table';
import { NotRefreshed } from '../table/not-refreshed';
import { exactTimeWidth, Time } from '../time/time';
import classes from './calls.module.css';
import { type CallFilter, CallsDocument, type CallsQuery, type ListedCallFragment } from './generated/calls';

/** Ms. */
const refreshMs = 4_000;
/** As asked for. */
const pageRows = 50;

interface CallListProps {
  /** The same object as long as the filter is the same. */
  readonly filter: CallFilter;
  readonly label: string;
  /** Shown where no call matches. */
  readonly empty: ReactNode;
}

/** Shows the device and the error of each call where the filter names no device. */
export function CallList({ filter, label, empty }: CallListProps) {
  const { t, i18n } = useTranslation();
  const variables = useCallback((after: string | null) => ({ filter, after }), [filter]);
  const pages = usePages({ query: CallsDocument, variables, listOf });
  const isRefreshed = pages.rows.length <= pageRows;
  // There is no subscription for calls.
  useVisibleInterval(pages.refresh, isRefreshed && !pages.isLoading ? refreshMs : undefined);
  const [looked, setLooked] = useState<ListedCallFragment>();
  // A call in flight ends while one looks at it; a row that has left the list stays as it was.
  const latest = looked && pages.rows.find(({ id }) => id === looked.id);
  const hasDevices = filter.deviceId === undefined;
  const columns = useMemo(
    () => (hasDevices ? fleetColumns(t, i18n.language, setLooked) : deviceColumns(t, i18n.language, setLooked)),
    [hasDevices, t, i18n.language],
  );
  if (pages.rows.length === 0 && !pages.isLoading && !pages.error) return empty;
  return (
    <>
      {pages.error && <LoadFailure error={pages.error} onRetry={pages.refresh} />}
      {!isRefreshed && <NotRefreshed most={pageRows} isLoading={pages.isLoading} onRefresh={pages.refresh} />}
      {(pages.rows.length > 0 || !pages.error) && (
        <DataTable
          label={label}
          columns={columns}
          rows={pages.rows}
          rowKey={({ id }) => id}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
        />
      )}
      {looked && <CallDialog call={latest ?? looked} onClose={() => setLooked(undefined)} />}
    </>
  );
}

type CallColumns = readonly Column<ListedCallFragment>[];
type OnChoose = (call: ListedCallFragment) => void;

function deviceColumns(t: TFunction, language: string, onChoose: OnChoose): CallColumns {
  const { at, tool, outcome, duration, actor } = commonColumns(t, language, onChoose);
  const given: Column<ListedCallFragment> = {
    id: 'arguments',
    header: t('call.arguments'),
    width: 160,
    cell: (row) => <code>{JSON.stringify(row.arguments)}</code>,
  };
  return [at, tool, outcome, given, duration, actor];
}

function fleetColumns(t: TFunction, language: string, onChoose: OnChoose): CallColumns {
  const { at, tool, outcome, duration, actor } = commonColumns(t, language, onChoose);
  const device: Column<ListedCallFragment> = {
    id: 'device',
    header: t('call.device'),
    width: 138,
    cell: ({ deviceId }) => (
      <Link to="/devices/$id" params={{ id: deviceId }} search={{ tab: 'calls' }}>
        {deviceId}
      </Link>
    ),
  };
  const error: Column<ListedCallFragment> = {
    id: 'error',
    header: t('call.error'),
    width: 80,
    grow: 2,
    cell: ({ error: failure }) =>
      failure && (
        <>
          {failure.code}: <HubWords code={failure.code} message={failure.message} />
        </>
      ),
  };
  return [at, device, tool, outcome, error, duration, actor];
}

function commonColumns(t: TFunction, language: string, onChoose: OnChoose) {
  return {
    at: {
      id: 'at',
      header: t('call.at'),
      width: exactTimeWidth,
      grow: 0,
      cell: ({ startedAt }: ListedCallFragment) => <Time at={startedAt} form="exact" />,
    },
    tool: {
      id: 'tool',
      header: t('call.tool'),
      width: 170,
      grow: 2,
      cell: (row: ListedCallFragment) => (
        <button type="button" className={`${classes.tool} cut`} onClick={() => onChoose(row)}>
          {row.tool}
        </button>
      ),
    },
    outcome: {
      id: 'outcome',
      header: t('call.outcome'),
      width: 140,
      cell: (row: ListedCallFragment) => <OutcomeBadge outcome={row.outcome ?? 'IN_FLIGHT'} />,
    },
    duration: {
      id: 'duration',
      header: t('call.duration'),
      width: 60,
      grow: 0,
      isNumeric: true,
      cell: ({ durationMs }: ListedCallFragment) =>
        durationMs === null ? t('common.none') : new Intl.NumberFormat(language).format(Math.round(durationMs)),
    },
    actor: {
      id: 'actor',
      header: t('call.actor'),
      width: 85,
      cell: (row: ListedCallFragment) => row.actor,
    },
  };
}

function CallDialog({ call, onClose }: { readonly call: ListedCallFragment; readonly onClose: () => void }) {
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

const listOf = ({ calls }: CallsQuery) => calls;
