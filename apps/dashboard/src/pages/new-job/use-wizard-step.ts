/**
 * The step of the wizard from the address, so that Back and Forward work. Reads the address itself:
 * the router renders later, in a transition, and a second click would then be on the former step.
 */
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { type JobDraft, reachableStep } from './job-draft';
import type { StepName } from './job-steps';
import { parseNewJobSearch } from './new-job-search';

export function useWizardStep(draftId: string, draft: JobDraft) {
  const { history, options } = useRouter();
  const navigate = useNavigate({ from: '/jobs/new' });
  const wanted = useRef<StepName>('what');
  const read = useCallback(() => {
    const search = parseNewJobSearch(options.parseSearch?.(history.location.search) ?? {});
    // The address of the next page is there before this page is gone.
    if (search.draft === draftId) wanted.current = search.step ?? 'what';
    return wanted.current;
  }, [history, options, draftId]);
  const step = reachableStep(useSyncExternalStore(history.subscribe, read), draft);
  const heading = useRef<HTMLHeadingElement>(null);
  // The heading takes the focus with each further step.
  const shown = useRef(step);
  useEffect(() => {
    if (step !== shown.current) heading.current?.focus();
    shown.current = step;
  }, [step]);
  const goTo = useCallback(
    (next: StepName) => void navigate({ search: (now) => ({ ...now, draft: draftId, step: next }) }),
    [navigate, draftId],
  );
  return { step, heading, goTo };
}
