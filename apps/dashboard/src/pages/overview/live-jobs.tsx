/** Jobs that are not finished, with how far they are. */
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { ReadFailure } from '../../parts/failure';
import { jobName } from '../../parts/job/job-name';
import { areTargetsSelected, countsOf, decidedOf } from '../../parts/job/job-progress';
import { OutcomeBar } from '../../parts/outcome/outcome-bar';
import { Section } from '../../parts/page';
import { JobsNowDocument } from './generated/overview';
import { jobsRefreshMs } from './overview-pace';
import classes from './overview.module.css';

export function LiveJobs() {
  const { t } = useTranslation();
  const read = useHubQuery({ query: JobsNowDocument, variables: {}, refreshMs: jobsRefreshMs });
  const live = read.data?.live.nodes;
  return (
    <Section title={t('overview.runningJobs')} actions={<Link to="/jobs">{t('overview.allJobs')}</Link>}>
      <ReadFailure read={read} />
      {live?.length === 0 && <p className="soft">{t('overview.noJobs')}</p>}
      {live?.map((job) => (
        <Link key={job.id} to="/jobs/$id" params={{ id: job.id }} className={classes.share}>
          <span className="cut">{jobName(job)}</span>
          <span className="figures">
            {areTargetsSelected(job.state, job.progress)
              ? t('overview.jobProgress', { decided: decidedOf(job.progress), total: job.progress.total })
              : t(`jobState.${job.state as 'SCHEDULED'}`)}
          </span>
          <span style={{ gridColumn: '1 / -1' }}>
            <OutcomeBar counts={countsOf(job.progress)} isBare />
          </span>
        </Link>
      ))}
      {read.data?.live.pageInfo.hasNextPage && (
        <p className="soft">{t('overview.latestJobs', { count: read.data.live.nodes.length })}</p>
      )}
    </Section>
  );
}
