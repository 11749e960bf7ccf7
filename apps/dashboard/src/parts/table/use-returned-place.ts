/** After Back, a table is where it was left. Rows that are not loaded yet are loaded on the way. */
import { type RefObject, useEffect, useRef } from 'react';
import { useRouter } from '@tanstack/react-router';
import { ListPlaces } from './list-places';

/** Of this tab. A reload forgets them. */
const places = new ListPlaces();
/** A person who scrolls decides where the table is. */
const takenOver = ['wheel', 'pointerdown'] as const;

interface ReturnedPlace {
  readonly frame: RefObject<HTMLElement | null>;
  readonly table: string;
  readonly rows: readonly unknown[];
  readonly hasMore: boolean;
}

export function useReturnedPlace({ frame, table, rows, hasMore }: ReturnedPlace): void {
  const { history } = useRouter();
  /** Undefined after the place was reached. */
  const wanted = useRef<number>(undefined);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const { pathname } = history.location;
    const present = () => history.location.state.__TSR_key ?? '';
    /** Undefined after the page was left. */
    let entry: string | undefined = present();
    wanted.current = places.of(entry, table);
    const stop = () => (wanted.current = undefined);
    const keep = () => {
      if (wanted.current === undefined && entry !== undefined) places.keep(entry, table, element.scrollTop);
    };
    const stopFollowing = history.subscribe(({ location, action }) => {
      const isHere = location.pathname === pathname;
      // A filter of this page is in the address, with another key in place of the former one.
      const isSamePlace = isHere && action.type === 'REPLACE' && entry !== undefined;
      if (!isSamePlace) keep();
      entry = isHere ? present() : undefined;
      if (entry === undefined || isSamePlace) return;
      wanted.current = places.of(entry, table);
      // Again with the rows of that entry, if they are others.
      if (wanted.current !== undefined) element.scrollTop = wanted.current;
    });
    element.addEventListener('scroll', keep, { passive: true });
    for (const event of takenOver) element.addEventListener(event, stop, { passive: true });
    // Some keys move through the rows from anywhere in the page.
    document.addEventListener('keydown', stop, { passive: true });
    return () => {
      stopFollowing();
      element.removeEventListener('scroll', keep);
      for (const event of takenOver) element.removeEventListener(event, stop);
      document.removeEventListener('keydown', stop);
    };
  }, [frame, history, table]);
  useEffect(() => {
    const element = frame.current;
    if (element === null || wanted.current === undefined) return;
    element.scrollTop = wanted.current;
    const isEnd = rows.length > 0 && !hasMore;
    if (isEnd || element.scrollTop >= wanted.current - 1) wanted.current = undefined;
  }, [frame, rows, hasMore]);
}
