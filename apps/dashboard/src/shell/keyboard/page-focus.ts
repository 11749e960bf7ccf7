/** Where shortcuts put the focus on a page: its search, and the rows of its lists. */
import { nextRow } from './shortcuts';

/** Types of inputs that do not take letters. */
const keylessTypes = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'file', 'color', 'image']);

/** Whether keys belong to the focused element: a field, a list of choices, a slider, an editor. */
export function takesKeys(element: Element | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  if (element.isContentEditable) return true;
  if (element instanceof HTMLInputElement) return !keylessTypes.has(element.type);
  return (
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement ||
    element.closest('[role=textbox], [role=combobox], [role=listbox], [role=menu], [role=slider]') !== null
  );
}

/** A dialog is open: what is behind it must not change. */
export function hasDialog(): boolean {
  return document.querySelector('[role=dialog], [role=alertdialog]') !== null;
}

/** The explorer of the API has other shortcuts with the same keys. */
export function hasOwnKeys(): boolean {
  return document.querySelector('[data-own-keys]')?.contains(document.activeElement) === true;
}

/** Focuses the search of the page; false without one. */
export function focusSearch(): boolean {
  const field = [...document.querySelectorAll<HTMLInputElement>('#content input[type=search]')].find(isShown);
  field?.focus();
  field?.select();
  return field !== undefined;
}

/** Moves the focus to the link or button of the next or previous row; Enter then opens it. */
export function focusRow(by: 1 | -1): boolean {
  const rows = rowTargets();
  const active = document.activeElement;
  const present = rows.findIndex(({ row }) => active !== null && row.contains(active));
  const next = nextRow(rows.length, present, by);
  const target = next === undefined ? undefined : rows[next];
  target?.target.focus();
  target?.row.scrollIntoView({ block: 'nearest' });
  return target !== undefined;
}

/** Rows of tables and lists that can be opened, in the order in which they are read. */
function rowTargets() {
  const rows = document.querySelectorAll<HTMLElement>(
    '#content tbody > tr, #content [role=rowgroup] > [role=row], #content [data-row]',
  );
  return [...rows].flatMap((row) => {
    const target = row.querySelector<HTMLElement>('a[href], button:not([disabled])');
    const isHeader = row.querySelector('[role=columnheader]') !== null;
    return target === null || isHeader || !isShown(row) ? [] : [{ row, target }];
  });
}

function isShown(element: HTMLElement): boolean {
  return element.getClientRects().length > 0;
}
