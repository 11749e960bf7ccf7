/** Focuses an element again, if nothing has the focus and the element is still on the page. */
export function giveFocusBack(element: Element | null): void {
  const hasFocus = document.activeElement !== null && document.activeElement !== document.body;
  if (!hasFocus && element instanceof HTMLElement && element.isConnected) element.focus({ preventScroll: true });
}
