/** All jobs, latest first, with how far each is. */
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { SegmentedControl } from '@mantine/core';
import { IconListCheck, IconPlus, IconSearch } from '@tabler/icons-react';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMayStartJobs } from '../../hub/hub';
import { useHubQuery } from '../../hub/use-hub-query';
import { type Pages, usePages } from '../../hub/lists/use-pages';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { JobBadge } from '../../parts/job/job-badge';
import { jobName } from '../../parts/job/job-name';
import { areTargetsSelected, countsOf, decidedOf } from '../../parts/job/job-progress';
import { LinkButton } from '../../parts/link-button';
import { OutcomeBar } from '../../parts/outcome/outcome-bar';
import { Page } from '../../parts/page';
import { NotRefreshed } from '../../parts/table/not-refreshed';
import { Time } from '../../parts/time/time';
import { SearchField } from '../../parts/search/search-field';
import { JobsDocument, type JobLineFragment, type JobsQuery } from './generated/jobs';
import { type JobSearch, liveStates } from './job-search';
import { isBeyond, withFirstPage } from './latest-jobs';
import classes from './jobs.module.css';

const route = getRouteApi('/jobs');
/** Ms. */
const refreshMs = 3_000;
/** As asked for. */
const pageRows = 50;

export function JobsPage() {
  const { t } = useTranslation();
  const { search, show } = route.useSearch();
  const mayStart = useMayStartJobs();
  const variables = useCallback(
    (after: string | null) => ({
      filter: {
        ...(search !== undefined && { search }),
        ...(show !== undefined && { states: show === 'live' ? [...liveStates] : (['FINISHED'] as const) }),
      },
      after,
    }),
    [search, show],
  );
  const pages = usePages({ query: JobsDocument, variables, listOf });
  useLatest(variables, pages);
  const columns = useColumns();
  const isFiltered = search !== undefined || show !== undefined;
  return (
    <Page
      title={t('jobs.title')}
      actions={
        mayStart && (
          <LinkButton to="/jobs/new" leftSection={<IconPlus size={16} aria-hidden />}>
            {t('jobs.new')}
          </LinkButton>
        )
      }
    >
      <Filter />
      {pages.error && <LoadFailure error={pages.error} onRetry={pages.refresh} />}
      {pages.rows.length > pageRows && (
        <NotRefreshed most={pageRows} isFirstRefreshed isLoading={pages.isLoading} onRefresh={pages.refresh} />
      )}
      {pages.rows.length > 0 && (
        <DataTable
          label={t('jobs.title')}
          columns={columns}
          rows={pages.rows}
          rowKey={({ id }) => id}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
        />
      )}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty icon={IconListCheck} title={t(isFiltered ? 'jobs.noMatch' : 'jobs.empty')}>
          {t(isFiltered ? 'jobs.noMatchHint' : 'jobs.emptyHint')}
        </Empty>
      )}
    </Page>
  );
}

function Filter() {
  const { t } = useTranslation();
  const { search, show = 'all' } = route.useSearch();
  const navigate = useNavigate({ from: '/jobs' });
  const change = (wanted: JobSearch) => void navigate({ search: wanted, replace: true });
  return (
    <div className={classes.filter}>
      <SearchField
        aria-label={t('jobs.search')}
        placeholder={t('jobs.search')}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={search ?? ''}
        onChange={(text) => change({ ...(text !== '' && { search: text }), ...(show !== 'all' && { show }) })}
        flex="1 1 200px"
        maw={340}
      />
      <SegmentedControl
        aria-label={t('jobs.show')}
        value={show}
        onChange={(chosen) =>
          change({ ...(search !== undefined && { search }), ...(chosen !== 'all' && { show: chosen as 'live' }) })
        }
        data={(['all', 'live', 'finished'] as const).map((value) => ({ value, label: t(`jobs.shown.${value}`) }))}
      />
    </div>
  );
}

/** Keeps the first page current; what was loaded beyond it stays. */
function useLatest(
  variables: (after: null) => { readonly filter: object; readonly after: string | null },
  { rows, patch, refresh }: Pages<JobLineFragment>,
): void {
  const first = useMemo(() => variables(null), [variables]);
  const { data } = useHubQuery({ query: JobsDocument, variables: first, refreshMs });
  const shown = useRef(rows);
  useEffect(() => {
    shown.current = rows;
  }, [rows]);
  useEffect(() => {
    if (!data) return;
    if (isBeyond(data.jobs, shown.current)) refresh();
    else patch((now) => withFirstPage(now, data.jobs));
  }, [data, patch, refresh]);
}

function useColumns() {
  const { t } = useTranslation();
  return useMemo<readonly Column<JobLineFragment>[]>(
    () => [
      {
        id: 'name',
        header: t('jobs.name'),
        width: 210,
        grow: 2,
        cell: (job) => (
          <>
            <Link to="/jobs/$id" params={{ id: job.id }} className={classes.name}>
              {jobName(job)}
            </Link>
            {job.name !== null && job.firmwareImage !== null && (
              <span className={classes.version}>{job.firmwareImage.version}</span>
            )}
          </>
        ),
      },
      { id: 'state', header: t('jobs.state'), width: 150, grow: 0, cell: (job) => <JobBadge {...job} /> },
      {
        id: 'progress',
        header: t('jobs.progress'),
        width: 160,
        grow: 2,
        cell: ({ progress }) => <OutcomeBar counts={countsOf(progress)} isBare />,
      },
      {
        id: 'count',
        header: t('jobs.devices'),
        width: 120,
        grow: 0,
        isNumeric: true,
        cell: ({ state, progress }) =>
          areTargetsSelected(state, progress)
            ? t('overview.jobProgress', { decided: decidedOf(progress), total: progress.total })
            : t('common.none'),
      },
      {
        id: 'created',
        header: t('jobs.created'),
        width: 110,
        grow: 0,
        cell: ({ createdAt }) => <Time at={createdAt} />,
      },
      { id: 'by', header: t('jobs.by'), width: 100, cell: ({ createdBy }) => createdBy },
    ],
    [t],
  );
}

const listOf = ({ jobs }: JobsQuery) => jobs;
