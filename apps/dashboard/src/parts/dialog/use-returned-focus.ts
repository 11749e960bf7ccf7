/**
 * Gives the focus back to what opened a dialog. Mantine does so only for dialogs that are closed
 * before they leave the page. A deleted row takes the button that opened its dialog along: then the
 * heading of the page gets the focus.
 */
import { useEffect, useState } from 'react';
import { giveFocusBack } from '../../hub/give-focus-back';

/** How long the list may take to show that the row is gone. */
const LEAVES_WITHIN_MS = 10_000;

export function useReturnedFocus(isOpen: boolean): void {
  const [opened, setOpened] = useState(() => ({ isOpen, by: isOpen ? document.activeElement : null }));
  if (opened.isOpen !== isOpen) setOpened({ isOpen, by: isOpen ? document.activeElement : opened.by });
  const { by } = opened;
  useEffect(() => {
    if (!isOpen) return;
    return () => {
      // The dialog is still in the document here, and holds the focus.
      setTimeout(() => giveFocusBack(by));
      focusHeadingAfter(by);
    };
  }, [isOpen, by]);
}

/** Once the element has left the page, if nothing has the focus then. */
function focusHeadingAfter(element: Element | null): void {
  if (element === null) return;
  const observer = new MutationObserver(() => {
    if (!element.isConnected) giveFocusBack(document.querySelector('main h1'));
  });
  observer.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => observer.disconnect(), LEAVES_WITHIN_MS);
}
