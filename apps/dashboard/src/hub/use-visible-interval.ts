/** Does something again and again while the page is visible. */
import { useEffect } from 'react';

/** Keep the same function as long as it does the same; without ms nothing is done. */
export function useVisibleInterval(act: () => void, everyMs: number | undefined): void {
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') act();
    }, everyMs);
    return () => clearInterval(timer);
  }, [act, everyMs]);
}
