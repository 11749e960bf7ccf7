/** Jobs that run by a schedule: the coming week, and each schedule with its last runs. */
import { IconCalendarRepeat, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useMayStartJobs } from '../../hub/hub';
import { onlyAfter, usePages } from '../../hub/lists/use-pages';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { LinkButton } from '../../parts/link-button';
import { Page } from '../../parts/page';
import { RecurringJobsDocument, type RecurringJobsQuery } from './generated/recurring';
import { RecurringCard } from './recurring-card';
import { WeekCalendar } from './week-calendar';

/** Ms: runs start and end while the page is open. */
const refreshMs = 15_000;
/** As many as a hub can have: the calendar is about all of them. */
const rowsAtOnce = 500;

export function RecurringPage() {
  const { t } = useTranslation();
  const mayStart = useMayStartJobs();
  const { rows, error, isLoading, refresh } = usePages({
    query: RecurringJobsDocument,
    variables: onlyAfter,
    listOf,
    rowsAtOnce,
    refreshMs,
  });
  return (
    <Page
      title={t('recurring.title')}
      lead={t('recurring.lead')}
      actions={
        mayStart && (
          <LinkButton to="/jobs/new" leftSection={<IconPlus size={16} aria-hidden />}>
            {t('recurring.new')}
          </LinkButton>
        )
      }
    >
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {rows.length === 0 && !isLoading && !error && (
        <Empty icon={IconCalendarRepeat} title={t('recurring.empty')}>
          {t('recurring.emptyHint')}
        </Empty>
      )}
      {rows.length > 0 && <WeekCalendar jobs={rows} />}
      {rows.map((job) => (
        <RecurringCard key={job.id} job={job} onChanged={refresh} />
      ))}
    </Page>
  );
}

const listOf = ({ recurringJobs }: RecurringJobsQuery) => recurringJobs;
