/** The limits and abort rules of a job. They do not change, so they are loaded once. */
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { aboutDuration } from '../../parts/time/about-duration';
import { Disclosure } from '../../parts/disclosure';
import { LoadFailure } from '../../parts/failure';
import { useRuleText } from '../../parts/job/rule-text';
import { HoursText } from '../../parts/zone/hours-text';
import { Fact } from './fact';
import { JobTermsDocument, type JobTermsQuery } from './generated/job';
import classes from './job.module.css';

type Terms = NonNullable<JobTermsQuery['job']>;

export function JobTerms({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: JobTermsDocument, variables: { id } });
  return (
    <Disclosure title={t('job.terms')} hint={t('job.termsHint')}>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data?.job && <Limits terms={data.job} />}
    </Disclosure>
  );
}

function Limits({ terms }: { readonly terms: Terms }) {
  const { t, i18n } = useTranslation();
  const { healthGate } = terms;
  const ruleText = useRuleText();
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 2 });
  return (
    <dl className={classes.facts}>
      <Fact name={t('newJob.offline')}>{t(`newJob.offlineKinds.${terms.offline}`)}</Fact>
      <Fact name={t('newJob.callTimeout')}>{t('newJob.exactSeconds', { count: terms.callTimeoutMs / 1_000 })}</Fact>
      <Fact name={t('newJob.maxAttempts')}>{t('newJob.attempts', { count: terms.maxAttempts })}</Fact>
      <Fact name={t('newJob.verification')}>{t(`newJob.verifications.${terms.verification}`)}</Fact>
      <Fact name={t('newJob.skipIfSatisfied')}>{t(terms.skipIfSatisfied ? 'job.yes' : 'job.no')}</Fact>
      <Fact name={t('newJob.priority')}>{t(`newJob.priorities.${String(terms.priority) as '1'}`)}</Fact>
      {terms.window && (
        <Fact name={t('newJob.window')}>
          <HoursText hours={{ ...terms.window, days: terms.window.days ?? [] }} />
        </Fact>
      )}
      <Fact name={t('newJob.rules')}>
        {terms.abortRules.length === 0
          ? t('newJob.noRules')
          : terms.abortRules.map((rule, index) => <div key={index}>{ruleText(rule)}</div>)}
      </Fact>
      {healthGate && (
        <Fact name={t('job.healthGate')}>
          {healthGate.maxRestartsPer1000Hours === null
            ? t(`job.healthGateTwice.${healthGate.action}`)
            : t(`job.healthGateAbove.${healthGate.action}`, {
                rate: number.format(healthGate.maxRestartsPer1000Hours),
              })}{' '}
          {t('job.healthGateWatch', { duration: aboutDuration(healthGate.observeSeconds, i18n.language) })}
        </Fact>
      )}
    </dl>
  );
}
