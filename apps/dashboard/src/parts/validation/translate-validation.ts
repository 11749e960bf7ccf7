/** Has the browser say what is wrong with a field in the language of the console. */
import type { TFunction } from 'i18next';
import { problemOf, type ValidationProblem } from './validation-problem';

/** Events that come before the browser checks a form; each clears the messages. */
const beforeChecks = ['input', 'click', 'keydown'] as const;

export function translateValidation(root: EventTarget, t: TFunction): void {
  const marked = new Set<Field>();
  // These events do not all bubble, so they are caught on their way down.
  const options = { capture: true };
  root.addEventListener(
    'invalid',
    ({ target }) => {
      if (!isField(target)) return;
      const problem = problemOf(target);
      if (problem === undefined) return;
      target.setCustomValidity(textOf(problem, t));
      marked.add(target);
    },
    options,
  );
  // A message makes a field invalid until it is taken back, also if a script sets another value.
  const takeBack = () => {
    for (const field of marked) field.setCustomValidity('');
    marked.clear();
  };
  for (const event of beforeChecks) root.addEventListener(event, takeBack, options);
}

type Field = HTMLInputElement | HTMLTextAreaElement;

function isField(target: EventTarget | null): target is Field {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
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
