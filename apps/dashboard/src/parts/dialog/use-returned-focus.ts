/**
 * Gives the focus back when a dialog that was open from the start leaves the page. Mantine does so
 * only for dialogs that are closed first.
 */
import { useEffect, useState } from 'react';
import { giveFocusBack } from '../../hub/give-focus-back';

export function useReturnedFocus(isOpen: boolean): void {
  const [former] = useState(() => (isOpen ? document.activeElement : null));
  useEffect(
    () => () => {
      // The dialog is still in the document here, and holds the focus.
      setTimeout(() => giveFocusBack(former));
    },
    [former],
  );
}
