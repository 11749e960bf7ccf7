/** What the job does and under which limits. */
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Json } from '../../parts/json';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { Fact } from './fact';
import type { JobSeenFragment } from './generated/job';
import { JobTerms } from './job-terms';
import classes from './job.module.css';

export function JobFacts({ job }: { readonly job: JobSeenFragment }) {
  const { t, i18n } = useTranslation();
  const rate = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 }).format(job.progress.ratePerMinute);
  return (
    <Section title={t('job.what')}>
      <dl className={classes.facts}>
        <Fact name={t('job.tool')}>
          <code>{job.tool}</code>
        </Fact>
        {job.firmwareImage && (
          <Fact name={t('job.image')}>
            <Link to="/firmware">
              {job.firmwareImage.project} {job.firmwareImage.version}
            </Link>
          </Fact>
        )}
        {job.state !== 'FINISHED' && (
          <Fact name={t('job.pace')}>
            {t('job.paceValue', { rate, inFlight: job.progress.inFlight, most: job.maxInFlight })}
          </Fact>
        )}
        {job.perMinute !== null && <Fact name={t('job.paceMost')}>{t('job.perMinute', { count: job.perMinute })}</Fact>}
        {job.progress.estimatedFinishAt !== null && job.state !== 'FINISHED' && (
          <Fact name={t('job.estimate')}>
            <Time at={job.progress.estimatedFinishAt} />
          </Fact>
        )}
        <Fact name={t('job.createdBy')}>
          {job.createdBy + t('mark.comma')}
          <Time at={job.createdAt} />
        </Fact>
        {job.approvedBy !== null && <Fact name={t('job.approvedBy')}>{job.approvedBy}</Fact>}
        {job.startAt !== null && job.startedAt === null && (
          <Fact name={t('job.startsAt')}>
            <Time at={job.startAt} />
          </Fact>
        )}
        {(job.startedAt !== null || job.finishedAt !== null) && (
          <Fact name={t('job.started')}>
            <Time at={job.startedAt} />
          </Fact>
        )}
        {job.finishedAt === null ? (
          <Fact name={t('job.expires')}>
            <Time at={job.expiresAt} />
          </Fact>
        ) : (
          <Fact name={t('job.finished')}>
            <Time at={job.finishedAt} />
          </Fact>
        )}
        {job.parentJobId !== null && (
          <Fact name={t('job.parent')}>
            <Link to="/jobs/$id" params={{ id: job.parentJobId }}>
              {t('job.parentLink')}
            </Link>
          </Fact>
        )}
      </dl>
      {JSON.stringify(job.arguments) !== '{}' && <Json label={t('call.arguments')} value={job.arguments} />}
      <JobTerms id={job.id} />
    </Section>
  );
}
