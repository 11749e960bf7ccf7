/** One schedule: its times, what it does, its last runs, and what can be done with it. */
import { useState } from 'react';
import { Button, Group, Switch } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useReadNow } from '../../hub/use-read-now';
import { ActButton } from '../../parts/act-button';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { LoadFailure, MutationFailureNotice } from '../../parts/failure';
import { ScheduleText } from '../../parts/schedule/schedule-text';
import { Disclosure } from '../../parts/disclosure';
import { JobBadge } from '../../parts/job/job-badge';
import { Json } from '../../parts/json';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import { Moment } from '../../parts/zone/moment';
import { FilterText } from '../devices/filter-text';
import { EditSchedule } from './edit-schedule';
import {
  DeleteRecurringJobDocument,
  RecurringJobNowDocument,
  RunRecurringJobDocument,
  UpdateRecurringJobDocument,
  type CreateJobInput,
  type RecurringJobCardFragment,
} from './generated/recurring';
import { inputOfCard } from './recurring-input';
import classes from './recurring.module.css';

interface RecurringCardProps {
  readonly job: RecurringJobCardFragment;
  readonly onChanged: () => void;
}

type Asked = 'run' | 'edit' | 'delete';

export function RecurringCard({ job, onChanged }: RecurringCardProps) {
  const { t } = useTranslation();
  const mayRun = useScope('JOBS_WRITE');
  const { runScopeMissing: scope } = job;
  const mayStart = scope === null;
  const [asked, setAsked] = useState<Asked>();
  const update = useHubMutation(UpdateRecurringJobDocument, (data) => data.updateRecurringJob.userErrors);
  const now = useReadNow(RecurringJobNowDocument);
  const setEnabled = async (enabled: boolean) => {
    const read = await now.read({ id: job.id });
    if (read === undefined) return;
    const { recurringJob: latest } = read;
    if (latest) {
      const input = { ...inputOfCard(latest), enabled };
      await update.run({ id: job.id, input, revision: latest.revision });
    }
    onChanged();
  };
  return (
    <div id={job.id}>
      <Section
        title={job.name}
        actions={
          job.viewerMayChange && (
            <Group gap="xs">
              {/* To disable one needs no right to start its jobs. */}
              <Switch
                label={t('recurring.enabled')}
                checked={job.enabled}
                disabled={update.isBusy || (!job.enabled && !mayStart)}
                onChange={(event) => void setEnabled(event.currentTarget.checked)}
              />
              {mayStart && (
                <>
                  <ActButton size="xs" icon={IconPlayerPlay} onClick={() => setAsked('run')}>
                    {t('recurring.runNow')}
                  </ActButton>
                  <Button size="xs" variant="default" onClick={() => setAsked('edit')}>
                    {t('recurring.edit')}
                  </Button>
                </>
              )}
              <Button size="xs" variant="default" onClick={() => setAsked('delete')}>
                {t('recurring.delete')}
              </Button>
            </Group>
          )
        }
      >
        {now.error && <LoadFailure error={now.error} />}
        <MutationFailureNotice failure={update.failure} />
        {mayRun && !job.viewerMayChange && <p className="soft">{t('recurring.beyondKey')}</p>}
        {job.viewerMayChange && scope !== null && <p className="soft">{t('recurring.runNeeds', { scope })}</p>}
        <Facts job={job} />
      </Section>
      <Acts job={job} asked={asked} onClose={() => setAsked(undefined)} onChanged={onChanged} />
    </div>
  );
}

function Facts({ job }: Pick<RecurringCardProps, 'job'>) {
  const { t } = useTranslation();
  const [next] = job.nextRuns;
  return (
    <dl className={classes.facts}>
      <dt>{t('recurring.times')}</dt>
      <dd>
        <ScheduleText cron={job.cron} /> · {job.timeZone}
      </dd>
      <dt>{t('recurring.nextRun')}</dt>
      <dd>
        {next === undefined ? (
          (job.pausedReason ?? t(job.enabled ? 'recurring.ended' : 'recurring.disabled'))
        ) : (
          <Moment at={Date.parse(next)} zone={job.timeZone} />
        )}
      </dd>
      <dt>{t('recurring.missed')}</dt>
      <dd>{t(`recurring.missedPolicy.${job.missed}`)}</dd>
      <dt>{t('recurring.overlap')}</dt>
      <dd>{t(`recurring.overlapPolicy.${job.overlap}`)}</dd>
      <dt>{t('recurring.job')}</dt>
      <dd>
        <Summary job={job} />
      </dd>
      <dt>{t('recurring.lastRuns')}</dt>
      <dd className={classes.history}>
        {job.jobs.nodes.length === 0 && t('recurring.neverRan')}
        {job.jobs.nodes.map(({ id, state, conclusion, createdAt }) => (
          <Link key={id} to="/jobs/$id" params={{ id }}>
            <JobBadge state={state} conclusion={conclusion} /> <Time at={createdAt} />
          </Link>
        ))}
      </dd>
    </dl>
  );
}

/** The tool with its arguments, or the image; the rest of the input on request. */
function Summary({ job: { job, name } }: Pick<RecurringCardProps, 'job'>) {
  const { t } = useTranslation();
  const { tool, arguments: given, firmwareImageId, devices } = job as Partial<CreateJobInput>;
  return (
    <>
      <code>{tool ?? t('recurring.rollOut', { id: firmwareImageId ?? '' })}</code>
      {given !== undefined && given !== null && <code> {JSON.stringify(given)}</code>}
      {devices && (
        <div>
          {t('jobs.devices') + t('mark.colon')}
          <FilterText filter={devices} />
        </div>
      )}
      <Disclosure title={t('recurring.allSettings')}>
        <Json value={job} label={t('recurring.jobOf', { name })} />
      </Disclosure>
    </>
  );
}

interface ActsProps extends RecurringCardProps {
  readonly asked: Asked | undefined;
  readonly onClose: () => void;
}

function Acts({ job, asked, onClose, onChanged }: ActsProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const run = useHubMutation(RunRecurringJobDocument, (data) => data.runRecurringJob.userErrors);
  const remove = useHubMutation(DeleteRecurringJobDocument, (data) => data.deleteRecurringJob.userErrors);
  return (
    <>
      <ConfirmMutation
        mutation={run}
        variables={asked === 'run' ? { id: job.id } : undefined}
        title={t('recurring.runTitle')}
        text={t('recurring.runText', { name: job.name })}
        act={t('recurring.runNow')}
        keep={t('keep.unrun')}
        onClose={onClose}
        onDone={(data) => {
          const id = data.runRecurringJob.job?.id;
          if (id !== undefined) void navigate({ to: '/jobs/$id', params: { id } });
        }}
      />
      <ConfirmMutation
        mutation={remove}
        variables={asked === 'delete' ? { id: job.id } : undefined}
        title={t('recurring.deleteTitle')}
        text={t('recurring.deleteText', { name: job.name })}
        act={t('recurring.delete')}
        keep={t('keep.schedule')}
        onClose={onClose}
        onDone={onChanged}
      />
      {asked === 'edit' && <EditSchedule job={job} onClose={onClose} onSaved={onChanged} />}
    </>
  );
}
