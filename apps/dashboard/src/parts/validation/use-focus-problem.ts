/**
 * The first invalid field of a form takes the focus when it cannot be sent. Without one, what the
 * form needs may have failed to load: that comes into view.
 */
import { useRef } from 'react';

export function useFocusProblem() {
  const form = useRef<HTMLFormElement>(null);
  const showProblem = () => {
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (field) return field.focus();
    const failure = form.current?.querySelector('[role="alert"]');
    failure?.scrollIntoView({ block: 'center' });
    failure?.querySelector('button')?.focus({ preventScroll: true });
  };
  // Once it is drawn.
  const focusProblem = () => setTimeout(showProblem);
  return { form, focusProblem };
}
