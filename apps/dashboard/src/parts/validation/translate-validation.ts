/** Has the browser say what is wrong with a field in the language of the console. */
import type { TFunction } from 'i18next';
import { problemOf, type ValidationProblem } from './validation-problem';

export function translateValidation(root: Document, t: TFunction): void {
  // These events do not bubble, so they are caught on their way down.
  root.addEventListener(
    'invalid',
    ({ target }) => {
      if (!isField(target)) return;
      const problem = problemOf(target);
      if (problem === undefined) return;
      target.setCustomValidity(textOf(problem, t));
      // A message makes a field invalid until it is taken back.
      target.addEventListener('input', () => target.setCustomValidity(''), { once: true });
    },
    { capture: true },
  );
}

function isField(target: EventTarget | null): target is HTMLInputElement {
  return target instanceof HTMLInputElement;
}

function textOf(problem: ValidationProblem, t: TFunction): string {
  switch (problem.is) {
    case 'tooShort':
      return t('validation.tooShort', { count: problem.count });
    case 'tooLow':
    case 'tooHigh':
      return t(`validation.${problem.is}`, { limit: problem.limit });
    default:
      return t(`validation.${problem.is}`);
  }
}
