/** What the job would do, in the hub's words, and the button that does it. Nothing is sent before. */
import { useMemo, useState } from 'react';
import { Button, Loader, Stack } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { newIdempotencyKey } from '../../hub/idempotency-key';
import { useAct } from '../../hub/use-act';
import { useHubQuery } from '../../hub/use-hub-query';
import { ActFailureNotice, LoadFailure } from '../../parts/failure';
import { CreateJobDocument, PreviewJobDocument, type PreviewJobQuery } from './generated/new-job';
import { inputOf, type JobDraft } from './job-draft';
import classes from './new-job.module.css';

export function StepCheck({ draft }: { readonly draft: JobDraft }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const input = useMemo(() => inputOf(draft), [draft]);
  const { data, error, isLoading, refresh } = useHubQuery({ query: PreviewJobDocument, variables: { input } });
  // Pressing again after a lost answer makes no second job.
  const [key] = useState(newIdempotencyKey);
  const act = useAct(CreateJobDocument, (answer) => answer.createJob.userErrors);
  const preview = data?.previewJob;
  const start = async () => {
    const made = (await act.run({ input, key }))?.createJob.job;
    if (made) void navigate({ to: '/jobs/$id', params: { id: made.id } });
  };
  if (error) return <LoadFailure error={error} onRetry={refresh} />;
  if (!preview) return <Loader aria-label={t('common.loading')} />;
  const refused = preview.userErrors.map(({ message }) => message);
  return (
    <Stack>
      {refused.length > 0 && <ActFailureNotice failure={{ messages: refused, codes: [], isUncertain: false }} />}
      <p className={classes.what}>
        <code>{draft.kind === 'tool' ? draft.tool : t('newJob.kinds.firmware')}</code>{' '}
        {draft.kind === 'tool' && <code className="soft">{JSON.stringify(draft.arguments)}</code>}
      </p>
      <Figures preview={preview} />
      {preview.argumentErrors.map(({ message, deviceCount }) => (
        <p key={message} className={classes.warning}>
          {t('newJob.argumentError', { count: deviceCount })} {message}
        </p>
      ))}
      {preview.sample.length > 0 && (
        <p className={classes.text}>
          {t('newJob.sample')}{' '}
          {preview.sample.slice(0, 5).map(({ id, name }) => (
            <Link key={id} to="/devices/$id" params={{ id }} className={classes.sample}>
              {name ?? id}
            </Link>
          ))}
        </p>
      )}
      <ActFailureNotice failure={act.failure} />
      <Button
        leftSection={<IconPlayerPlay size={16} />}
        loading={act.isBusy}
        disabled={isLoading || refused.length > 0 || preview.targetCount === 0}
        onClick={() => void start()}
        style={{ alignSelf: 'flex-start' }}
      >
        {t('newJob.start', { count: preview.targetCount })}
      </Button>
    </Stack>
  );
}

function Figures({ preview }: { readonly preview: PreviewJobQuery['previewJob'] }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const figures = [
    { name: 'targets', value: number.format(preview.targetCount) },
    { name: 'online', value: number.format(preview.onlineCount) },
    { name: 'missing', value: number.format(preview.missingToolCount) },
    { name: 'radius', value: number.format(preview.blastRadius) },
    {
      name: 'waves',
      value: preview.waves.length === 0 ? t('newJob.waveKinds.once') : preview.waves.map((size) => number.format(size)).join(' + '),
    },
    {
      name: 'time',
      value: preview.estimatedSeconds === null ? t('common.unknown') : t('newJob.seconds', { count: preview.estimatedSeconds }),
    },
  ] as const;
  return (
    <dl className={classes.figures}>
      {figures.map(({ name, value }) => (
        <div key={name}>
          <dt>{t(`newJob.preview.${name}`)}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
