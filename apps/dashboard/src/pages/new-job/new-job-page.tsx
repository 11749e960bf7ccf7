/**
 * A job in five steps: action, devices, pace, abort rules, and a review before anything is sent.
 */
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { Button, Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMayCallInJobs, useMayRollOut, useMayStartJobs, useScope, useViewer } from '../../hub/hub';
import { Page, Section } from '../../parts/page';
import { useFocusProblem } from '../../parts/validation/use-focus-problem';
import { PageForbidden } from '../../shell/page-failure';
import { dropDraft, readDraft, writeDraft } from './draft-store';
import { changedDraft, draftFrom, type JobDraft, missingIn } from './job-draft';
import { type StepName, steps } from './job-steps';
import { type Refusal, stepOf, stillRefused } from './refusals';
import { StepReview } from './steps/step-review';
import { StepPace } from './steps/step-pace';
import { StepRules } from './steps/step-rules';
import { StepAction } from './steps/step-action';
import { StepDevices } from './steps/step-devices';
import { useWizardStep } from './use-wizard-step';
import { WizardProvider } from './wizard';
import { WizardSteps } from './wizard-steps';

const route = getRouteApi('/jobs/new');
const forms = { what: StepAction, whom: StepDevices, pace: StepPace, stop: StepRules };

export function NewJobPage() {
  const { t } = useTranslation();
  const { draft } = route.useSearch();
  const [mayRun, mayStart] = [useScope('JOBS_WRITE'), useMayStartJobs()];
  if (!mayStart) return <PageForbidden scope={mayRun ? 'TOOLS_CALL' : 'JOBS_WRITE'} />;
  return (
    <Page title={t('newJob.title')} lead={t('newJob.lead')}>
      {/* The route gives each new job an id. */}
      {draft !== undefined && <Wizard key={draft} draftId={draft} />}
    </Page>
  );
}

function Wizard({ draftId }: { readonly draftId: string }) {
  const { t } = useTranslation();
  const { draft, change } = useDraft(draftId);
  const [refusals, setRefusals] = useState<readonly Refusal[]>([]);
  const [tried, setTried] = useState<StepName>();
  const { step: current, heading, goTo } = useWizardStep(draftId, draft);
  const { form, focusProblem } = useFocusProblem();
  const isTried = tried === current || refusals.some((refusal) => stepOf(refusal) === current);
  const wizard = useMemo(
    () => ({
      draft,
      refusals,
      isTried,
      change: (changed: Partial<JobDraft>) => {
        change(changed);
        setRefusals((now) => stillRefused(now, changed));
      },
    }),
    [draft, refusals, isTried, change],
  );
  const step = steps.indexOf(current);
  const show = (name: StepName | undefined) => {
    setTried(undefined);
    if (name !== undefined) goTo(name);
  };
  const next = (event: FormEvent) => {
    event.preventDefault();
    // A dialog opened from here has a separate form.
    if (event.target !== event.currentTarget) return;
    if (missingIn(current, draft) === undefined) return show(steps[step + 1]);
    setTried(current);
    focusProblem();
  };
  const Form = current === 'check' ? undefined : forms[current];
  return (
    <>
      <WizardSteps current={current} draft={draft} onStep={show} />
      <WizardProvider value={wizard}>
        <Section title={t(`newJob.steps.${current}`)} headingRef={heading}>
          {Form ? (
            <form ref={form} onSubmit={next} noValidate>
              <Form />
              <Group justify="space-between" mt="lg">
                <Button variant="default" disabled={step === 0} onClick={() => show(steps[step - 1])}>
                  {t('newJob.back')}
                </Button>
                <Button type="submit">{t('newJob.next')}</Button>
              </Group>
            </form>
          ) : (
            <StepReview
              onBack={() => show(steps[step - 1])}
              onStep={show}
              onRefused={setRefusals}
              onStarted={() => dropDraft(sessionStorage, draftId)}
            />
          )}
        </Section>
      </WizardProvider>
    </>
  );
}

/** What was typed, also before a reload; else what the address says. */
function useDraft(draftId: string) {
  const search = route.useSearch();
  const viewer = useViewer().name;
  const may = { tool: useMayCallInJobs(), firmware: useMayRollOut() };
  const [draft, setDraft] = useState(() => ({
    ...draftFrom(search, may),
    ...readDraft(sessionStorage, { id: draftId, viewer }),
  }));
  const isTyped = useRef(false);
  const change = useRef((changed: Partial<JobDraft>) => {
    isTyped.current = true;
    setDraft((now) => changedDraft(now, changed));
  }).current;
  useEffect(() => {
    if (isTyped.current) writeDraft(sessionStorage, { id: draftId, viewer }, draft);
  }, [draftId, viewer, draft]);
  return { draft, change };
}
