/**
 * All devices: filtered, shown in a table of any length, tagged, grouped, or selected for a job.
 */
import { type Dispatch, type SetStateAction, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Button } from '@mantine/core';
import { IconCpu, IconPlayerPlay, IconTags } from '@tabler/icons-react';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useHubQuery } from '../../hub/use-hub-query';
import type { RowChange } from '../../hub/gather-changes';
import { useLiveList } from '../../hub/use-live-list';
import { type Page as PageOfRows, usePages } from '../../hub/use-pages';
import { DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import type { Selection } from '../../parts/table/row-selection';
import { useColumnChoice } from './column-choice';
import { ColumnMenu } from './column-menu';
import { useDeviceColumns } from './device-columns';
import { conditionsOf, type DeviceOrder, type DeviceSearch, filterOf } from './device-search';
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
import { TagDialog } from './tag-dialog';

const route = getRouteApi('/devices');
/** Ms. */
const countRefreshMs = 5_000;
/** Rows: the first page fills the screen; later pages have the hub's maximum. */
const firstPage = 100;
const furtherPage = 200;
/** Devices that a job can select by id; they are part of the wizard's address. */
const namedMax = 300;

export function DevicesPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/devices' });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const setSearch = useCallback(
    (change: Partial<DeviceSearch>) => {
      setSelected(new Set());
      void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
    },
    [navigate],
  );
  const filter = useMemo(() => filterOf(search), [search]);
  const choice = useColumnChoice();
  const withDesired = useScope('JOBS_READ') && choice.shown.has('desired');
  const { pages, count } = useDeviceList(search, { filter, withDesired });
  const columns = useDeviceColumns({ shown: choice.shown, search, setSearch });
  const selection = useDeviceSelection(pages.rows, selected, setSelected);
  return (
    <Page
      title={t('devices.title')}
      lead={count && t('devices.count', { count: count.deviceCount, online: count.onlineCount })}
      actions={<Acts search={search} selected={selected} matching={count?.deviceCount} onTagged={pages.refresh} />}
    >
      <div className={classes.tools}>
        <FilterBar search={search} onChange={setSearch} />
        <ColumnMenu {...choice} />
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
          selection={selection}
          totalCount={count?.deviceCount}
          rowsOf={JSON.stringify([filter, search.orderBy])}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
        />
      )}
    </Page>
  );
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
  const pages = usePages({ query: DevicesDocument, variables, pageOf });
  const watched = useMemo(() => ({ filter, withDesired }), [filter, withDesired]);
  const counted = useMemo(() => ({ filter }), [filter]);
  const summary = useHubQuery({ query: DeviceCountDocument, variables: counted, refreshMs: countRefreshMs });
  const { rows, patch, refresh, hasMore, isLoading } = pages;
  useLiveList({
    ...{ subscription: DeviceListChangesDocument, variables: watched, changeOf, isMoved: isMovedIn[orderBy] },
    ...{ rows, patch },
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

function useDeviceSelection(
  rows: readonly DeviceLineFragment[],
  selected: ReadonlySet<string>,
  setSelected: Dispatch<SetStateAction<ReadonlySet<string>>>,
): Selection<DeviceLineFragment> {
  const { t } = useTranslation();
  const toggle = useCallback(({ id }: DeviceLineFragment) => setSelected((now) => toggled(now, id)), [setSelected]);
  return {
    ...{ selected, toggle },
    toggleAll: (areAll) => setSelected(new Set(areAll ? rows.map(({ id }) => id) : [])),
    allLabel: t('devices.selectShown'),
    labelOf: ({ id, name }) => t('devices.select', { device: name ?? id }),
  };
}

function toggled(selected: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const changed = new Set(selected);
  if (!changed.delete(id)) changed.add(id);
  return changed;
}

function pageOf({ devices: { nodes, pageInfo } }: DevicesQuery): PageOfRows<DeviceLineFragment> {
  return { rows: nodes, endCursor: pageInfo.endCursor, hasNextPage: pageInfo.hasNextPage };
}

function changeOf({ deviceListChanged }: DeviceListChangesSubscription): RowChange<DeviceLineFragment> {
  return { row: deviceListChanged.device, matches: deviceListChanged.matches };
}

function keyOf({ id }: DeviceLineFragment): string {
  return id;
}

interface ActsProps {
  readonly search: DeviceSearch;
  readonly selected: ReadonlySet<string>;
  readonly matching: number | undefined;
  readonly onTagged: () => void;
}

/** With those that are selected, else with all that match. */
function Acts({ search, selected, matching = 0, onTagged }: ActsProps) {
  const { t } = useTranslation();
  const [isTagging, setTagging] = useState(false);
  const [mayWrite, mayRun] = [useScope('DEVICES_WRITE'), useScope('JOBS_WRITE')];
  const ids = [...selected];
  const meant = ids.length > 0 ? ids.length : matching;
  return (
    <>
      {mayWrite && (
        <Button
          variant="default"
          leftSection={<IconTags size={16} aria-hidden />}
          disabled={meant === 0}
          onClick={() => setTagging(true)}
        >
          {t('devices.tagAct', { count: meant })}
        </Button>
      )}
      {mayRun && ids.length > namedMax && <span className="soft">{t('devices.jobTooMany')}</span>}
      {mayRun && ids.length <= namedMax && (
        <Link
          to="/jobs/new"
          search={ids.length > 0 ? { ids } : { devices: conditionsOf(search) }}
          className={classes.buttonLink}
        >
          <IconPlayerPlay size={16} aria-hidden />
          {t('devices.jobAct', { count: meant })}
        </Link>
      )}
      <TagDialog
        isOpen={isTagging}
        filter={ids.length > 0 ? { ids } : (filterOf(search) ?? { all: true })}
        count={meant}
        onClose={() => setTagging(false)}
        onTagged={onTagged}
      />
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
