/** One desired state, live: how many devices have it, who has not and why, and its edits. */
import { useEffect, useMemo, useState } from 'react';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useSubscription } from 'urql';
import { useScope } from '../../hub/hub';
import { useHubQuery } from '../../hub/use-hub-query';
import { ComplianceBar } from '../../parts/compliance/compliance-bar';
import { countsOf } from '../../parts/compliance/compliance-counts';
import { LoadFailure } from '../../parts/failure';
import { JobBadge } from '../../parts/job/job-badge';
import { Page, Section } from '../../parts/page';
import { ConvergenceTimes } from './convergence-times';
import { DesiredActions } from './desired-actions';
import { DesiredBadge } from './desired-badge';
import { DesiredFacts } from './desired-facts';
import { DesiredHistory } from './desired-history';
import { DesiredTargets } from './desired-targets';
import { NoSuchState } from './no-such-state';
import { hasLeftDevices } from './rollout-end';
import { DesiredStateDocument, DesiredStateNewsDocument, type DesiredSeenFragment } from './generated/desired';
import classes from './desired.module.css';

const route = getRouteApi('/desired/$id');
/** The end of a roll-out changes no device, so nothing else says that it has ended. Ms. */
const rolloutRefreshMs = 5_000;

export function DesiredPage() {
  const { id } = route.useParams();
  return <KnownState key={id} id={id} />;
}

function KnownState({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const variables = useMemo(() => ({ id }), [id]);
  const [state, setState] = useState<DesiredSeenFragment>();
  const rollout = state?.rollout ?? undefined;
  const { data, error, isLoading, refresh } = useHubQuery({
    query: DesiredStateDocument,
    variables,
    ...(rollout && rollout.state !== 'FINISHED' && { refreshMs: rolloutRefreshMs }),
  });
  useEffect(() => {
    if (data?.desiredState) setState(data.desiredState);
  }, [data]);
  useSubscription({ query: DesiredStateNewsDocument, variables }, (_seen, news) => {
    setState(news.desiredStateChanged);
    return news;
  });
  return (
    <Page
      title={state?.name ?? t('desired.one')}
      lead={state && <Lead state={state} />}
      actions={state && <DesiredActions state={state} onChanged={setState} />}
    >
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {data?.desiredState === null && !isLoading && <NoSuchState />}
      {state && <Sides state={state} />}
    </Page>
  );
}

function Lead({ state }: { readonly state: DesiredSeenFragment }) {
  const { t } = useTranslation();
  const { inSync, targeted } = state.summary;
  return (
    <span className={classes.lead} role="status">
      <DesiredBadge state={state} />
      {state.pausedReason !== null && <span>{state.pausedReason}</span>}
      <span className="figures">{t('desired.shareInSync', { count: inSync, total: targeted })}</span>
    </span>
  );
}

function Sides({ state }: { readonly state: DesiredSeenFragment }) {
  const { t } = useTranslation();
  const { summary, rollout, enableScopeMissing: scope } = state;
  const [mayRun, mayCall] = [useScope('JOBS_WRITE'), useScope('TOOLS_CALL')];
  return (
    <>
      {mayRun && mayCall && !state.viewerMayChange && <p className="soft">{t('desired.beyondKey')}</p>}
      {state.viewerMayChange && scope !== null && <p className="soft">{t('desired.enableNeeds', { scope })}</p>}
      <Section title={t('desired.compliance')}>
        {summary.targeted === 0 ? (
          <p className="soft">{t(state.enabled ? 'desired.noTargets' : 'desired.noTargetsDisabled')}</p>
        ) : (
          <ComplianceBar counts={countsOf(summary)} />
        )}
        <ConvergenceTimes summary={summary} />
        {rollout && (
          <p>
            {t('desired.rollout')} <JobBadge state={rollout.state} conclusion={rollout.conclusion} />{' '}
            <Link to="/jobs/$id" params={{ id: rollout.id }}>
              {t('desired.rolloutJob')}
            </Link>
          </p>
        )}
        {rollout && state.enabled && hasLeftDevices(rollout) && <p>{t('desired.rolloutEnded')}</p>}
      </Section>
      <DesiredTargets id={state.id} summary={summary} />
      <DesiredFacts state={state} />
      <DesiredHistory id={state.id} generation={state.generation} />
    </>
  );
}
