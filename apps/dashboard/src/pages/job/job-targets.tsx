/** Every target of the job with its outcome. */
import { useCallback, useEffect, useMemo } from 'react';
import { MultiSelect } from '@mantine/core';
import { useThrottledCallback } from '@mantine/hooks';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { usePages } from '../../hub/lists/use-pages';
import { type Column, DataTable } from '../../parts/table/data-table';
import { LoadFailure } from '../../parts/failure';
import { HubWords } from '../../parts/hub-words';
import { NotRefreshed } from '../../parts/table/not-refreshed';
import { fileSize } from '../../parts/number/file-size';
import { OutcomeBadge, type OutcomeOrStage } from '../../parts/outcome/outcome-badge';
import { Section } from '../../parts/page';
import { exactTimeWidth, Time } from '../../parts/time/time';
import { JobTargetsDocument, type JobTargetsQuery, type Outcome, type TargetRowFragment } from './generated/job';
import { targetOutcomes } from './target-search';
import { areReadAgain, pageSize } from './target-stage';

const route = getRouteApi('/jobs/$id');

/** Ms between two looks while targets change. */
const paceMs = 2_000;
const allOutcomes: readonly Outcome[] = [];

interface JobTargetsProps {
  readonly id: string;
  /** The table reads its rows again when it changes. */
  readonly stage: string;
  readonly isFinished: boolean;
}

export function JobTargets({ id, stage, isFinished }: JobTargetsProps) {
  const { t } = useTranslation();
  const { outcomes: wanted = allOutcomes } = route.useSearch();
  const navigate = useNavigate({ from: '/jobs/$id' });
  const show = (outcomes: readonly Outcome[]) =>
    void navigate({ search: outcomes.length > 0 ? { outcomes } : {}, replace: true, resetScroll: false });
  const variables = useCallback(
    (after: string | null) => ({ id, outcomes: wanted.length > 0 ? [...wanted] : null, after }),
    [id, wanted],
  );
  const pages = usePages({ query: JobTargetsDocument, variables, listOf });
  const { refresh, rows } = pages;
  const look = useThrottledCallback(() => {
    if (areReadAgain(rows.length, isFinished)) refresh();
  }, paceMs);
  useEffect(() => look(), [stage, look]);
  const columns = useColumns();
  return (
    <Section
      title={t('job.targets')}
      actions={
        <MultiSelect
          aria-label={t('job.outcomes')}
          placeholder={wanted.length === 0 ? t('job.allOutcomes') : ''}
          data={targetOutcomes.map((value) => ({ value, label: t(`outcome.${value}`) }))}
          value={[...wanted]}
          onChange={(chosen) => show(chosen as Outcome[])}
          clearable
          size="xs"
          miw={200}
        />
      }
    >
      {pages.error && <LoadFailure error={pages.error} onRetry={refresh} />}
      {!areReadAgain(rows.length, isFinished) && (
        <NotRefreshed most={pageSize} isLoading={pages.isLoading} onRefresh={refresh} />
      )}
      {rows.length > 0 ? (
        <DataTable
          label={t('job.targets')}
          columns={columns}
          rows={rows}
          rowKey={({ deviceId }) => deviceId}
          hasMore={pages.hasMore}
          onEnd={pages.loadMore}
          maxHeight="520px"
        />
      ) : (
        !pages.isLoading && <p className="soft">{t(wanted.length === 0 ? 'job.noTargetsYet' : 'job.noTargets')}</p>
      )}
    </Section>
  );
}

function useColumns() {
  const { t } = useTranslation();
  return useMemo<readonly Column<TargetRowFragment>[]>(
    () => [
      {
        id: 'device',
        header: t('job.device'),
        width: 156,
        cell: ({ deviceId }) => (
          <Link to="/devices/$id" params={{ id: deviceId }}>
            {deviceId}
          </Link>
        ),
      },
      {
        id: 'wave',
        header: t('job.wave'),
        width: 60,
        grow: 0,
        isNumeric: true,
        cell: ({ wave }) => (wave === 0 ? t('common.none') : wave),
      },
      {
        id: 'outcome',
        header: t('call.outcome'),
        width: 156,
        cell: (target) => <OutcomeBadge outcome={target.outcome ?? stageOf(target)} />,
      },
      {
        id: 'attempts',
        header: t('job.attempts'),
        width: 80,
        grow: 0,
        isNumeric: true,
        cell: ({ attempts }) => attempts,
      },
      {
        id: 'said',
        header: t('job.said'),
        width: 194,
        grow: 3,
        cell: (target) => <Said target={target} />,
      },
      {
        id: 'decided',
        header: t('job.decided'),
        width: exactTimeWidth,
        grow: 0,
        cell: ({ decidedAt }) => (decidedAt === null ? t('common.none') : <Time at={decidedAt} form="exact" />),
      },
    ],
    [t],
  );
}

/** Its own words; before there are any, how far the image has come. */
function Said({ target: { error, result, download, outcome, state } }: { readonly target: TargetRowFragment }) {
  const { t, i18n } = useTranslation();
  // A restart that was expected is not an error.
  if (state === 'VERIFYING' && error?.code === 'SESSION_CLOSED') return t('job.waitsForDevice');
  if (error !== null) {
    return (
      <>
        {error.code}: <HubWords code={error.code} message={error.message} />
      </>
    );
  }
  if (result !== null || download === null || outcome !== null) return result?.text;
  if (download.completedAt !== null) return t('job.fetchedAll');
  return t('job.fetched', { size: fileSize(download.bytesServed, i18n.language) });
}

function stageOf({ state }: TargetRowFragment): OutcomeOrStage {
  if (state === 'WAITING_DEVICE') return 'WAITING_DEVICE';
  if (state === 'VERIFYING') return 'VERIFYING';
  return state === 'SENT' || state === 'DISPATCHING' ? 'IN_FLIGHT' : 'PENDING';
}

const listOf = ({ job }: JobTargetsQuery) => job?.targets;
