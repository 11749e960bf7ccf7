/** All devices: filtered, shown in a table of any length, and selected for what changes them. */
import { type SetStateAction, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { IconCpu, IconPlayerPlay, IconTags } from '@tabler/icons-react';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMayStartJobs, useScope } from '../../hub/hub';
import { useHubQuery } from '../../hub/use-hub-query';
import type { RowChange } from '../../hub/lists/gather-changes';
import { useLiveList } from '../../hub/lists/use-live-list';
import { usePages } from '../../hub/lists/use-pages';
import { ActButton } from '../../parts/act-button';
import { CopyAs } from '../../parts/copy-as/copy-as';
import { DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { LinkButton } from '../../parts/link-button';
import { Page } from '../../parts/page';
import { AddDevices } from '../add-devices/add-devices';
import { useColumnChoice } from './column-choice';
import { ColumnMenu } from './column-menu';
import { useDeviceColumns } from './device-columns';
import { conditionsOf, type DeviceOrder, type DeviceSearch, filterOf, isForListsOnly } from './device-search';
import classes from './devices.module.css';
import { FilterBar } from './filter-bar';
import {
  DeviceCountDocument,
  type DeviceFilter,
  type DeviceLineFragment,
  DeviceListChangesDocument,
  type DeviceListChangesSubscription,
  DevicesDocument,
  type DevicesQuery,
} from './generated/devices';
import { countOf, type DeviceSelection, noDevices } from './selection/selection';
import { SelectionBar } from './selection/selection-bar';
import { useSelection } from './selection/use-selection';
import { TagDialog } from './tag-dialog';

const route = getRouteApi('/devices');
/** Ms. */
const countRefreshMs = 5_000;
/** Rows: the first page fills the screen; later pages have the hub's maximum. */
const firstPage = 100;
const furtherPage = 200;

export function DevicesPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/devices' });
  const setSearch = useCallback(
    (change: Partial<DeviceSearch>) => {
      void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
    },
    [navigate],
  );
  const filter = useMemo(() => filterOf(search), [search]);
  const [selection, setSelection] = useFilterSelection(JSON.stringify(filter));
  const choice = useColumnChoice();
  const withDesired = choice.shown.has('desired');
  const { pages, count } = useDeviceList(search, { filter, withDesired });
  const columns = useDeviceColumns({ shown: choice.shown, search, setSearch });
  const boxes = useSelection({ rows: pages.rows, selection, setSelection });
  const matching = count?.deviceCount ?? pages.rows.length;
  return (
    <Page
      title={t('devices.title')}
      lead={count && t('devices.count', { count: count.deviceCount, online: count.onlineCount })}
      actions={
        <Acts
          search={search}
          isSelecting={countOf(selection, matching) > 0}
          matching={count?.deviceCount}
          onTagged={pages.refresh}
        />
      }
    >
      <div className={classes.tools}>
        <FilterBar search={search} isOfList onChange={setSearch} />
        <ColumnMenu {...choice} />
        <CopyAs request={() => ({ kind: 'devices', filter: filter && { ...filter } })} />
      </div>
      {pages.error && <LoadFailure error={pages.error} onRetry={pages.refresh} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error ? (
        <NoDevices isFiltered={filter !== undefined} />
      ) : (
        <DataTable
          label={t('devices.title')}
          columns={columns}
          rows={pages.rows}
          rowKey={keyOf}
          selection={boxes}
          totalCount={count?.deviceCount}
          rowsOf={JSON.stringify([filter, search.orderBy])}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
        />
      )}
      <SelectionBar
        selection={selection}
        onSelect={setSelection}
        conditions={conditionsOf(search)}
        matching={matching}
        onChanged={pages.refresh}
      />
    </Page>
  );
}

/** The selection under one filter. Another filter, also one from a link, begins without one. */
function useFilterSelection(filter: string | undefined) {
  const [state, setState] = useState({ filter, selection: noDevices });
  const selection = state.filter === filter ? state.selection : noDevices;
  const setSelection = useCallback(
    (change: SetStateAction<DeviceSelection>) =>
      setState((now) => {
        const before = now.filter === filter ? now.selection : noDevices;
        return { filter, selection: typeof change === 'function' ? change(before) : change };
      }),
    [filter],
  );
  return [selection, setSelection] as const;
}

interface ListedDevices {
  readonly filter: DeviceFilter | undefined;
  /** Whether each row has the states of its desired states. */
  readonly withDesired: boolean;
}

/** The rows and their number, both live. */
function useDeviceList({ orderBy = 'NAME_ASC' }: DeviceSearch, { filter, withDesired }: ListedDevices) {
  const variables = useCallback(
    (after: string | null) => {
      const first = after === null ? firstPage : furtherPage;
      return { filter, orderBy, after, first, withDesired };
    },
    [filter, orderBy, withDesired],
  );
  const pages = usePages({ query: DevicesDocument, variables, listOf });
  const watched = useMemo(() => ({ filter, withDesired }), [filter, withDesired]);
  const counted = useMemo(() => ({ filter }), [filter]);
  const summary = useHubQuery({ query: DeviceCountDocument, variables: counted, refreshMs: countRefreshMs });
  const { rows, patch, refresh, hasMore, isLoading } = pages;
  useLiveList({
    subscription: DeviceListChangesDocument,
    variables: watched,
    changeOf,
    isMoved: isMovedIn[orderBy],
    rows,
    patch,
    reread: () => {
      refresh();
      summary.refresh();
    },
  });
  const count = summary.data?.fleetSummary;
  // Some devices come and leave without a message, for example because of the time in the filter.
  const isOther = count !== undefined && !hasMore && count.deviceCount !== rows.length;
  const checked = useRef(count);
  useEffect(() => {
    if (isLoading || count === checked.current) return;
    checked.current = count;
    if (isOther) refresh();
  }, [count, isLoading, isOther, refresh]);
  return { pages, count };
}

/** Whether a change moves the device in a list of this order. */
const isMovedIn: Readonly<Record<DeviceOrder, (before: DeviceLineFragment, now: DeviceLineFragment) => boolean>> = {
  ID_ASC: () => false,
  NAME_ASC: (before, now) => before.name !== now.name,
  LAST_SEEN_DESC: (before, now) => before.lastSeenAt !== now.lastSeenAt,
};

const listOf = ({ devices }: DevicesQuery) => devices;

function changeOf({ deviceListChanged }: DeviceListChangesSubscription): RowChange<DeviceLineFragment> {
  return { row: deviceListChanged.device, matches: deviceListChanged.matches };
}

function keyOf({ id }: DeviceLineFragment): string {
  return id;
}

interface ActsProps {
  readonly search: DeviceSearch;
  /** The acts of a selection are at the lower edge, in place of these. */
  readonly isSelecting: boolean;
  readonly matching: number | undefined;
  readonly onTagged: () => void;
}

/** Adds devices, or does something with all that match. */
function Acts({ search, isSelecting, matching = 0, onTagged }: ActsProps) {
  const { t } = useTranslation();
  const [isTagging, setTagging] = useState(false);
  const [mayWrite, mayStart] = [useScope('DEVICES_WRITE'), useMayStartJobs()];
  const isForAll = !isSelecting && !isForListsOnly(search);
  return (
    <>
      {mayWrite && <AddDevices />}
      {mayWrite && isForAll && (
        <ActButton
          className={classes.wideOnly ?? ''}
          icon={IconTags}
          disabled={matching === 0}
          onClick={() => setTagging(true)}
        >
          {t('devices.tagAct', { count: matching })}
        </ActButton>
      )}
      {mayStart && isForAll && (
        <LinkButton
          to="/jobs/new"
          search={{ devices: conditionsOf(search) }}
          disabled={matching === 0}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
        >
          {t('devices.jobAct', { count: matching })}
        </LinkButton>
      )}
      {isTagging && (
        <TagDialog
          filter={filterOf(search) ?? { all: true }}
          count={matching}
          onClose={() => setTagging(false)}
          onTagged={onTagged}
        />
      )}
    </>
  );
}

function NoDevices({ isFiltered }: { readonly isFiltered: boolean }) {
  const { t } = useTranslation();
  return isFiltered ? (
    <Empty icon={IconCpu} title={t('devices.noMatch')}>
      {t('devices.noMatchHint')}
    </Empty>
  ) : (
    <Empty icon={IconCpu} title={t('devices.empty')} action={<Link to="/enrolments">{t('nav.enrolments')}</Link>}>
      {t('devices.emptyHint', { url: `${location.origin}/ota/` })}
    </Empty>
  );
}
