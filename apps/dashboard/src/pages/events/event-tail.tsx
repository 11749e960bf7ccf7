/**
 * Live events, latest first, back to the oldest that the hub keeps, or until a long list is cut
 * off. While paused, it shows how many are held back.
 */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { IconActivity, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { useClient } from 'urql';
import { type Pages, usePages } from '../../hub/lists/use-pages';
import { ActButton } from '../../parts/act-button';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { Json } from '../../parts/json';
import { exactTimeWidth, Time } from '../../parts/time/time';
import classes from './events.module.css';
import {
  type EventFilter,
  type EventRowFragment,
  EventsAsTheyHappenDocument,
  EventsDocument,
  type EventsQuery,
} from './generated/events';

/** Ms that events are gathered before the list is drawn again. */
const gatherMs = 300;
/** Rows that are kept while others arrive. */
const rowsMax = 5_000;

interface EventTailProps {
  /** The same object as long as the filter is the same. */
  readonly filter: EventFilter;
}

export function EventTail({ filter }: EventTailProps) {
  const { t } = useTranslation();
  const variables = useCallback((after: string | null) => ({ filter, after }), [filter]);
  const pages = usePages({ query: EventsDocument, variables, listOf });
  const [isPaused, setPaused] = useState(false);
  const heldBack = useArrivals(filter, isPaused, pages.patch);
  const [looked, setLooked] = useState<EventRowFragment>();
  const columns = useColumns(filter.deviceId === undefined, setLooked);
  return (
    <div className={classes.tail}>
      <div className={classes.bar}>
        <ActButton icon={isPaused ? IconPlayerPlay : IconPlayerPause} onClick={() => setPaused(!isPaused)}>
          {t(isPaused ? 'events.resume' : 'events.pause')}
        </ActButton>
        <span className="soft figures" role="status">
          {isPaused ? t('events.heldBack', { count: heldBack }) : t('events.live')}
        </span>
      </div>
      {pages.error && <LoadFailure error={pages.error} onRetry={pages.refresh} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty icon={IconActivity} title={t('events.empty')}>
          {t('events.emptyHint')}
        </Empty>
      )}
      {pages.rows.length > 0 && (
        <DataTable
          label={t('events.title')}
          columns={columns}
          rows={pages.rows}
          rowKey={({ id }) => id}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
        />
      )}
      <Dialog isOpen={looked !== undefined} onClose={() => setLooked(undefined)} title={looked?.type} size="lg">
        {looked && <Json label={t('events.data')} value={looked} />}
      </Dialog>
    </div>
  );
}

/** Puts what happens on top of the rows, in batches; while paused it is kept back and counted. */
function useArrivals(filter: EventFilter, isPaused: boolean, patch: Pages<EventRowFragment>['patch']): number {
  const client = useClient();
  const arrived = useRef<EventRowFragment[]>([]);
  const [heldBack, setHeldBack] = useState(0);
  useEffect(() => {
    arrived.current = [];
    const { unsubscribe } = client.subscription(EventsAsTheyHappenDocument, { filter }).subscribe(({ data }) => {
      if (data) arrived.current = [data.eventAdded.node, ...arrived.current].slice(0, rowsMax);
    });
    return unsubscribe;
  }, [client, filter]);
  useEffect(() => {
    const timer = setInterval(() => {
      setHeldBack(arrived.current.length);
      if (isPaused || arrived.current.length === 0) return;
      const news = arrived.current;
      arrived.current = [];
      patch((rows) => {
        const shown = new Set(rows.map(({ id }) => id));
        return [...news.filter(({ id }) => !shown.has(id)), ...rows];
      }, rowsMax);
    }, gatherMs);
    return () => clearInterval(timer);
  }, [isPaused, patch]);
  return heldBack;
}

function useColumns(hasDevices: boolean, onLook: (row: EventRowFragment) => void) {
  const { t } = useTranslation();
  return useMemo<readonly Column<EventRowFragment>[]>(
    () => [
      {
        id: 'at',
        header: t('events.at'),
        width: exactTimeWidth,
        grow: 0,
        cell: ({ at }) => <Time at={at} form="exact" />,
      },
      {
        id: 'type',
        header: t('events.type'),
        width: 200,
        cell: (row) => (
          <button type="button" className={`${classes.type} cut`} onClick={() => onLook(row)}>
            {row.type}
          </button>
        ),
      },
      ...(hasDevices
        ? [
            {
              id: 'device',
              header: t('events.device'),
              width: 170,
              cell: ({ deviceId }: EventRowFragment) =>
                deviceId !== null && (
                  <Link to="/devices/$id" params={{ id: deviceId }}>
                    {deviceId}
                  </Link>
                ),
            },
          ]
        : []),
      {
        id: 'data',
        header: t('events.data'),
        width: 240,
        grow: 3,
        cell: ({ data }) => <code className="soft">{JSON.stringify(data)}</code>,
      },
    ],
    [t, hasDevices, onLook],
  );
}

const listOf = ({ events }: EventsQuery) => events;
