/** A job in five steps: what, on whom, how fast, when to stop, and a look at what that means before anything is sent. */
import { useState } from 'react';
import { Button, Group, Stepper } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { Page, Section } from '../../parts/page';
import { PageForbidden } from '../../shell/page-failure';
import { draftFrom, hasWhat, hasWhom, type JobDraft } from './job-draft';
import { StepCheck } from './step-check';
import { StepPace } from './step-pace';
import { StepStop } from './step-stop';
import { StepWhat } from './step-what';
import { StepWhom } from './step-whom';

const route = getRouteApi('/jobs/new');
const steps = ['what', 'whom', 'pace', 'stop', 'check'] as const;

export interface StepProps {
  readonly draft: JobDraft;
  readonly change: (change: Partial<JobDraft>) => void;
}

export function NewJobPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const [draft, setDraft] = useState(() => draftFrom(search));
  const [step, setStep] = useState(0);
  const isNarrow = useMediaQuery('(max-width: 820px)') ?? false;
  const mayRun = useScope('JOBS_WRITE');
  const change = (changed: Partial<JobDraft>) => setDraft((now) => ({ ...now, ...changed }));
  const isReady = [hasWhat(draft), hasWhom(draft), true, true, true];
  const reachable = (index: number) => isReady.slice(0, index).every(Boolean);
  const current = steps[step] ?? 'what';
  if (!mayRun) return <PageForbidden scope="JOBS_WRITE" />;
  return (
    <Page title={t('newJob.title')} lead={t('newJob.lead')}>
      <Stepper
        active={step}
        onStepClick={setStep}
        size="sm"
        iconSize={28}
        {...(isNarrow && { styles: { stepBody: { display: 'none' }, separator: { marginInline: 4 } } })}
      >
        {steps.map((name, index) => (
          <Stepper.Step
            key={name}
            label={t(`newJob.steps.${name}`)}
            {...(isNarrow && { 'aria-label': `${index + 1} ${t(`newJob.steps.${name}`)}` })}
            allowStepSelect={reachable(index)}
          />
        ))}
      </Stepper>
      <Section title={t(`newJob.steps.${current}`)}>
        {current === 'what' && <StepWhat draft={draft} change={change} />}
        {current === 'whom' && <StepWhom draft={draft} change={change} />}
        {current === 'pace' && <StepPace draft={draft} change={change} />}
        {current === 'stop' && <StepStop draft={draft} change={change} />}
        {current === 'check' && <StepCheck draft={draft} />}
        <Group justify="space-between" mt="lg">
          <Button variant="default" disabled={step === 0} onClick={() => setStep(step - 1)}>
            {t('newJob.back')}
          </Button>
          {step < steps.length - 1 && (
            <Button disabled={!reachable(step + 1)} onClick={() => setStep(step + 1)}>
              {t('newJob.next')}
            </Button>
          )}
        </Group>
      </Section>
    </Page>
  );
}
