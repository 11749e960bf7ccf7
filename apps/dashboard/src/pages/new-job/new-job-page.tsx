/**
 * A job in five steps: action, devices, pace, abort rules, and a review before anything is sent.
 */
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { Button, Group, Stepper } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { Page, Section } from '../../parts/page';
import { PageForbidden } from '../../shell/page-failure';
import { draftFrom, type JobDraft, missingIn, steps } from './job-draft';
import { type Refusal, stepOf, stillRefused } from './refusals';
import { StepReview } from './steps/step-review';
import { StepPace } from './steps/step-pace';
import { StepRules } from './steps/step-rules';
import { StepAction } from './steps/step-action';
import { StepDevices } from './steps/step-devices';
import { WizardProvider } from './wizard';

const route = getRouteApi('/jobs/new');
const forms = { what: StepAction, whom: StepDevices, pace: StepPace, stop: StepRules };

export function NewJobPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const [draft, setDraft] = useState(() => draftFrom(search));
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [isTried, setTried] = useState(false);
  const mayRun = useScope('JOBS_WRITE');
  const { step, current, heading, form, goTo, focusProblem } = useSteps();
  const wizard = useMemo(
    () => ({
      ...{ draft, refusals, isTried },
      change: (changed: Partial<JobDraft>) => {
        setDraft((now) => ({ ...now, ...changed }));
        setRefusals((now) => stillRefused(now, changed));
      },
    }),
    [draft, refusals, isTried],
  );
  const reachable = (index: number) => steps.slice(0, index).every((name) => missingIn(name, draft) === undefined);
  const show = (index: number) => {
    setTried(refusals.some((refusal) => stepOf(refusal) === steps[index]));
    goTo(index);
  };
  const next = (event: FormEvent) => {
    event.preventDefault();
    // A dialog opened from here has a separate form.
    if (event.target !== event.currentTarget) return;
    if (missingIn(current, draft) === undefined) return show(step + 1);
    setTried(true);
    focusProblem();
  };
  if (!mayRun) return <PageForbidden scope="JOBS_WRITE" />;
  const Form = current === 'check' ? undefined : forms[current];
  return (
    <Page title={t('newJob.title')} lead={t('newJob.lead')}>
      <Steps step={step} reachable={reachable} onStep={show} />
      <WizardProvider value={wizard}>
        <Section title={t(`newJob.steps.${current}`)} headingRef={heading}>
          {Form ? (
            <form ref={form} onSubmit={next} noValidate>
              <Form />
              <Group justify="space-between" mt="lg">
                <Button variant="default" disabled={step === 0} onClick={() => show(step - 1)}>
                  {t('newJob.back')}
                </Button>
                <Button type="submit">{t('newJob.next')}</Button>
              </Group>
            </form>
          ) : (
            <StepReview
              onBack={() => show(step - 1)}
              onStep={(name) => show(steps.indexOf(name))}
              onRefused={setRefusals}
            />
          )}
        </Section>
      </WizardProvider>
    </Page>
  );
}

/**
 * The current step. Its heading takes the focus on arrival; an invalid field takes it when Next
 * fails.
 */
function useSteps() {
  const [step, setStep] = useState(0);
  const heading = useRef<HTMLHeadingElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const hasMoved = useRef(false);
  useEffect(() => {
    if (hasMoved.current) heading.current?.focus();
  }, [step]);
  const goTo = (index: number) => {
    hasMoved.current = true;
    setStep(index);
  };
  // Once it is drawn.
  const focusProblem = () =>
    setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  return { step, current: steps[step] ?? 'what', heading, form, goTo, focusProblem };
}

interface StepsProps {
  readonly step: number;
  readonly reachable: (index: number) => boolean;
  readonly onStep: (index: number) => void;
}

function Steps({ step, reachable, onStep }: StepsProps) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 820px)') ?? false;
  return (
    <Stepper
      active={step}
      onStepClick={onStep}
      size="sm"
      iconSize={28}
      {...(isNarrow && { styles: { stepBody: { display: 'none' }, separator: { marginInline: 4 } } })}
    >
      {steps.map((name, index) => (
        <Stepper.Step
          key={name}
          label={t(`newJob.steps.${name}`)}
          {...(isNarrow && { 'aria-label': `${index + 1} ${t(`newJob.steps.${name}`)}` })}
          aria-current={index === step ? 'step' : undefined}
          allowStepSelect={reachable(index)}
        />
      ))}
    </Stepper>
  );
}
