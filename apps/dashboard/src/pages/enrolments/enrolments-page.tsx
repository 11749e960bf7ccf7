/** Devices that wait for approval: approve by the code on the device, or reject. */
import { useCallback, useMemo, useState } from 'react';
import { Button } from '@mantine/core';
import { useThrottledCallback } from '@mantine/hooks';
import { IconUserPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useSubscription } from 'urql';
import { useFleetScope, useScope } from '../../hub/hub';
import { rereadMs } from '../../hub/lists/use-live-list';
import { onlyAfter, usePages } from '../../hub/lists/use-pages';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { AddDevices } from '../add-devices/add-devices';
import { ApproveDialog } from './approve-dialog';
import { BlockedBoards, useBlockedBoards } from './blocked-boards';
import { Links } from './links';
import { MovingBoards } from './moving/moving-boards';
import { type ShownState, useMovingBoards } from './moving/use-moving-boards';
import { RejectDialog } from './reject-dialog';
import { EnrolmentNewsDocument, EnrolmentsDocument, type EnrolmentsQuery } from './generated/enrolments';

type Enrolment = EnrolmentsQuery['enrolments']['nodes'][number];

/** Ms between two looks: codes expire without an event. */
const refreshMs = 15_000;
/** Events that change the list. */
const news = {
  filter: { types: ['enrolment.requested', 'enrolment.approved', 'enrolment.rejected', 'board.*'] },
};

export function EnrolmentsPage() {
  const { t } = useTranslation();
  const [mayDecide, isAdmin] = [useFleetScope('DEVICES_WRITE'), useScope('ADMIN')];
  const mayAdd = useScope('DEVICES_WRITE');
  const pages = usePages({ query: EnrolmentsDocument, variables: onlyAfter, listOf, refreshMs });
  const [chosen, setChosen] = useState<Enrolment>();
  const [turnedAway, setTurnedAway] = useState<Enrolment>();
  const boards = useBlockedBoards(refreshMs);
  const [shown, setShown] = useState<ShownState>('ALL');
  const moving = useMovingBoards(shown, refreshMs);
  const [refreshWaiting, refreshBlocked, refreshMoving] = [pages.refresh, boards.refresh, moving.refresh];
  const refresh = useCallback(() => {
    refreshWaiting();
    refreshBlocked();
    refreshMoving();
  }, [refreshWaiting, refreshBlocked, refreshMoving]);
  useEnrolmentNews(refresh);
  const columns = useColumns(mayDecide, setChosen, setTurnedAway);
  return (
    <Page
      title={t('enrolments.title')}
      lead={t('enrolments.lead')}
      actions={mayAdd && <AddDevices isMain onAdded={refresh} />}
    >
      {pages.error && <LoadFailure error={pages.error} onRetry={refresh} />}
      {pages.rows.length > 0 && (
        <DataTable
          label={t('enrolments.waiting')}
          columns={columns}
          rows={pages.rows}
          rowKey={(row) => row.id}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
        />
      )}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty icon={IconUserPlus} title={t('enrolments.empty')}>
          {t('enrolments.emptyHint', { url: `${location.origin}/ota/` })}
        </Empty>
      )}
      <BlockedBoards boards={boards} mayDecide={mayDecide} onUnblocked={refresh} />
      <MovingBoards {...moving} {...{ shown, mayDecide }} onShow={setShown} />
      {isAdmin && <Links />}
      {chosen && (
        <ApproveDialog key={chosen.id} enrolment={chosen} onClose={() => setChosen(undefined)} onApproved={refresh} />
      )}
      {turnedAway && <RejectDialog enrolment={turnedAway} onClose={() => setTurnedAway(undefined)} onDone={refresh} />}
    </Page>
  );
}

/** Reads the lists again at each event. */
function useEnrolmentNews(refresh: () => void): void {
  const reread = useThrottledCallback(refresh, rereadMs);
  useSubscription({ query: EnrolmentNewsDocument, variables: news, pause: !useScope('EVENTS_READ') }, (_seen, data) => {
    reread();
    return data;
  });
}

const listOf = ({ enrolments }: EnrolmentsQuery) => enrolments;

function useColumns(mayDecide: boolean, onApprove: (row: Enrolment) => void, onReject: (row: Enrolment) => void) {
  const { t } = useTranslation();
  return useMemo<readonly Column<Enrolment>[]>(
    () => [
      { id: 'device', header: t('enrolments.device'), width: 130, grow: 2, cell: (row) => <code>{row.deviceId}</code> },
      {
        id: 'code',
        header: t('enrolments.code'),
        width: 64,
        grow: 0,
        cell: (row) => (row.code === null ? t('common.none') : <code>{row.code}</code>),
      },
      { id: 'model', header: t('enrolments.model'), width: 140, cell: (row) => row.model ?? t('common.none') },
      {
        id: 'firmware',
        header: t('enrolments.firmware'),
        width: 80,
        cell: (row) => row.firmwareVersion ?? t('common.none'),
      },
      {
        id: 'address',
        header: t('enrolments.address'),
        width: 120,
        cell: (row) => row.remoteAddress ?? t('common.none'),
      },
      { id: 'requested', header: t('enrolments.requested'), width: 110, cell: (row) => <Time at={row.requestedAt} /> },
      ...(mayDecide
        ? [
            {
              id: 'acts',
              header: '',
              width: 118,
              grow: 0,
              isStuck: true,
              cell: (row: Enrolment) => <RowActs row={row} {...{ onApprove, onReject }} />,
            },
          ]
        : []),
    ],
    [t, mayDecide, onApprove, onReject],
  );
}

interface RowActsProps {
  readonly row: Enrolment;
  readonly onApprove: (row: Enrolment) => void;
  readonly onReject: (row: Enrolment) => void;
}

function RowActs({ row, onApprove, onReject }: RowActsProps) {
  const { t } = useTranslation();
  return (
    <Button.Group>
      <Button size="compact-xs" variant="default" onClick={() => onApprove(row)}>
        {t('enrolments.approve')}
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => onReject(row)}>
        {t('enrolments.reject')}
      </Button>
    </Button.Group>
  );
}
