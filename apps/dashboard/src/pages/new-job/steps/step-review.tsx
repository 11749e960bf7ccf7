/** Shows the preview of the job, and the button that starts it. Nothing is sent before. */
import { useEffect, useMemo, useState } from 'react';
import { Button, Group, Loader, Stack } from '@mantine/core';
import { IconAdjustmentsCheck, IconCalendarRepeat, IconPlayerPlay } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../../hub/hub';
import { newIdempotencyKey } from '../../../hub/idempotency-key';
import { refusalOf } from '../../../hub/mutation-failure';
import { useHubMutation } from '../../../hub/use-hub-mutation';
import { useHubQuery } from '../../../hub/use-hub-query';
import { ActButton } from '../../../parts/act-button';
import { CopyAs } from '../../../parts/copy-as/copy-as';
import { MutationFailureNotice, LoadFailure } from '../../../parts/failure';
import { LinkButton } from '../../../parts/link-button';
import { canBeKept } from '../../desired/form/can-be-kept';
import { fitsAddress } from '../../desired/form/new-desired-search';
import { useToolChoices } from '../fields/tool-choices';
import { CreateJobDocument, PreviewJobDocument, type PreviewJobQuery } from '../generated/new-job';
import { chosenConditions, onlyWithTool } from '../job-draft';
import type { StepName } from '../job-steps';
import { inputOf } from '../job-input';
import { JobSummary } from '../job-summary';
import { PreviewFigures } from '../preview-figures';
import { RepeatJob } from '../repeat-job';
import { type Refusal, stepOf } from '../refusals';
import { useWizard } from '../wizard';
import classes from '../new-job.module.css';

type Preview = PreviewJobQuery['previewJob'];

interface StepCheckProps {
  readonly onBack: () => void;
  readonly onStep: (step: StepName) => void;
  readonly onRefused: (refusals: readonly Refusal[]) => void;
  /** The hub has created the job. */
  readonly onStarted: () => void;
}

export function StepReview({ onBack, onStep, onRefused, onStarted }: StepCheckProps) {
  const { t } = useTranslation();
  const { draft, change } = useWizard();
  const navigate = useNavigate();
  const input = useMemo(() => inputOf(draft), [draft]);
  const { data, error, isLoading, refresh } = useHubQuery({ query: PreviewJobDocument, variables: { input } });
  const act = useHubMutation(CreateJobDocument, (answer) => answer.createJob.userErrors);
  const [isRepeating, setRepeating] = useState(false);
  const preview = data?.previewJob;
  const refused = preview?.userErrors;
  useEffect(() => {
    if (refused) onRefused(refused);
  }, [refused, onRefused]);
  const start = async () => {
    // Kept with the draft: another attempt after a lost answer makes no second job.
    const key = draft.startKey ?? newIdempotencyKey();
    change({ startKey: key });
    const made = (await act.run({ input, key }))?.createJob.job;
    if (!made) return;
    onStarted();
    void navigate({ to: '/jobs/$id', params: { id: made.id } });
  };
  return (
    <Stack>
      {error && <LoadFailure error={error} onRetry={refresh} />}
      {!error && !preview && <Loader aria-label={t('common.loading')} />}
      {refused && refused.length > 0 && <Refused refusals={refused} onStep={onStep} />}
      {preview && preview.userErrors.length === 0 && <Expected preview={preview} isImage={draft.kind === 'firmware'} />}
      <JobSummary onStep={onStep} />
      <MutationFailureNotice failure={act.failure} />
      <Group justify="space-between" mt="xs">
        <Button variant="default" onClick={onBack}>
          {t('newJob.back')}
        </Button>
        {preview && (
          <Group gap="xs">
            <CopyAs
              isDisabled={preview.userErrors.length > 0}
              request={() => ({ kind: 'job', input: { ...input }, idempotencyKey: newIdempotencyKey() })}
            />
            <KeepSo />
            <ActButton
              icon={IconCalendarRepeat}
              disabled={isLoading || preview.userErrors.length > 0}
              onClick={() => setRepeating(true)}
            >
              {t('newJob.repeat')}
            </ActButton>
            <Button
              leftSection={<IconPlayerPlay size={16} aria-hidden />}
              loading={act.isBusy}
              disabled={isLoading || preview.userErrors.length > 0 || preview.targetCount === 0}
              onClick={() => void start()}
            >
              {t(draft.startAt === undefined ? 'newJob.start' : 'newJob.schedule', { count: preview.targetCount })}
            </Button>
          </Group>
        )}
      </Group>
      {isRepeating && <RepeatJob input={input} onClose={() => setRepeating(false)} />}
    </Stack>
  );
}

/** The same as a desired state. Only for tools whose effect can be read back and repeated. */
function KeepSo() {
  const { t } = useTranslation();
  const { draft } = useWizard();
  const { tools } = useToolChoices(draft);
  const mayCall = useScope('TOOLS_CALL');
  const chosen = draft.kind === 'tool' ? tools.find(({ name }) => name === draft.tool) : undefined;
  if (!mayCall || chosen === undefined || !canBeKept(chosen.policy)) return null;
  const search = { tool: chosen.name, arguments: draft.arguments, devices: chosenConditions(draft) };
  if (!fitsAddress(search)) return null;
  return (
    <LinkButton
      to="/desired/new"
      search={search}
      variant="default"
      leftSection={<IconAdjustmentsCheck size={16} aria-hidden />}
    >
      {t('desired.keepSo')}
    </LinkButton>
  );
}

/** What happens to devices that lack the tool, and the way to leave them out. */
function WithoutTool({ preview: { targetCount, missingToolCount } }: { readonly preview: Preview }) {
  const { t } = useTranslation();
  const { draft, change } = useWizard();
  const able = targetCount - missingToolCount;
  return (
    <div className={classes.warning}>
      {t('newJob.withoutTool', { count: missingToolCount })}
      {able > 0 && (
        <Button variant="default" size="xs" onClick={() => change(onlyWithTool(draft))}>
          {t('newJob.onlyAble', { count: able })}
        </Button>
      )}
    </div>
  );
}

/** What the hub would refuse, with the way to where it is mended. */
function Refused({
  refusals,
  onStep,
}: {
  readonly refusals: Preview['userErrors'];
  readonly onStep: (step: StepName) => void;
}) {
  const { t } = useTranslation();
  const wanted = [...new Set(refusals.flatMap((refusal) => stepOf(refusal) ?? []))];
  return (
    <Stack gap="xs">
      <MutationFailureNotice failure={refusalOf(refusals)} />
      <Group gap="xs">
        {wanted.map((step) => (
          <Button key={step} variant="default" size="xs" onClick={() => onStep(step)}>
            {t('newJob.fix', { step: t(`newJob.steps.${step}`) })}
          </Button>
        ))}
      </Group>
    </Stack>
  );
}

function Expected({ preview, isImage }: { readonly preview: Preview; readonly isImage: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      <PreviewFigures preview={preview} />
      {preview.targetCount === 0 && <p className={classes.warning}>{t('newJob.noMatch')}</p>}
      {preview.warnings.map(({ code, message, deviceCount, details }) => (
        <p key={code} className={classes.warning}>
          {t(`newJob.warnings.${code}`, {
            defaultValue: message,
            details: details.join(t('mark.listed')),
            ...(deviceCount !== null && { count: deviceCount }),
          })}
        </p>
      ))}
      {!isImage && preview.missingToolCount > 0 && <WithoutTool preview={preview} />}
      {preview.argumentErrors.map(({ message, deviceCount }) => (
        <p key={message} className={classes.warning}>
          {t(isImage ? 'newJob.imageError' : 'newJob.argumentError', { count: deviceCount })} {message}
        </p>
      ))}
      {preview.sample.length > 0 && (
        <div className={classes.samples}>
          <span>{t('newJob.sample')}</span>
          {preview.sample.slice(0, 5).map(({ id, name }) => (
            <Link key={id} to="/devices/$id" params={{ id }}>
              {name ?? id}
            </Link>
          ))}
        </div>
      )}
    </>
  );
}
