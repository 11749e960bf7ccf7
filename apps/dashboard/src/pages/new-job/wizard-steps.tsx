/** The steps of the wizard: where one is, and a way to each that is complete so far. */
import { Stepper } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { type JobDraft, reachableStep } from './job-draft';
import { type StepName, steps } from './job-steps';
import classes from './new-job.module.css';

interface WizardStepsProps {
  readonly current: StepName;
  readonly draft: JobDraft;
  readonly onStep: (step: StepName | undefined) => void;
}

export function WizardSteps({ current, draft, onStep }: WizardStepsProps) {
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 820px)', undefined, { getInitialValueInEffect: false });
  const step = steps.indexOf(current);
  return (
    <div>
      {/* Five names do not fit beside each other: the one of the current step is enough. */}
      {isNarrow && (
        <p className={classes.stepOf}>
          {t('newJob.stepOf', { number: step + 1, count: steps.length, step: t(`newJob.steps.${current}`) })}
        </p>
      )}
      <Stepper
        active={step}
        onStepClick={(index) => onStep(steps[index])}
        size="sm"
        iconSize={isNarrow ? 44 : 28}
        {...(isNarrow && { styles: { stepBody: { display: 'none' }, separator: { marginInline: 4 } } })}
      >
        {steps.map((name, index) => (
          <Stepper.Step
            key={name}
            label={t(`newJob.steps.${name}`)}
            {...(isNarrow && { 'aria-label': `${index + 1} ${t(`newJob.steps.${name}`)}` })}
            aria-current={name === current ? 'step' : undefined}
            allowStepSelect={reachableStep(name, draft) === name}
          />
        ))}
      </Stepper>
    </div>
  );
}
