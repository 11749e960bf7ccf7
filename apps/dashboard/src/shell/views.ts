/**
 * Views of the Devices page in the side bar. Views are the device groups: a saved filter has one
 * name for lists, jobs and keys alike, and colleagues find it. Which of them a person sees in the
 * side bar is that person's choice, kept in this browser.
 */
import { useCallback, useSyncExternalStore } from 'react';

interface ViewGroup {
  readonly id: string;
  readonly name: string;
}

/** Views of a person who has not chosen: more would hide the pages below. */
const byDefaultMax = 5;
export const viewsMax = 20;

/** The groups in the side bar, by name. `chosen` undefined: nothing was chosen yet. */
export function viewsAmong<Group extends ViewGroup>(
  groups: readonly Group[],
  chosen: readonly string[] | undefined,
): readonly Group[] {
  const byName = [...groups].sort((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }));
  if (chosen === undefined) return byName.slice(0, byDefaultMax);
  return byName.filter(({ id }) => chosen.includes(id)).slice(0, viewsMax);
}

/** Shows a group in the side bar, or hides it. Groups that are gone are forgotten. */
export function toggledView(
  groups: readonly ViewGroup[],
  chosen: readonly string[] | undefined,
  id: string,
): readonly string[] {
  const shown = viewsAmong(groups, chosen).map((group) => group.id);
  return shown.includes(id) ? shown.filter((other) => other !== id) : [...shown, id].slice(-viewsMax);
}

const keyOf = (viewer: string) => `flotilla.views.${viewer}`;
const watchers = new Set<() => void>();

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Has the side bar and the menu of groups read them again: one was saved, changed or deleted. */
export function groupsChanged(): void {
  for (const notify of groupWatchers) notify();
}

const groupWatchers = new Set<() => void>();

export function watchGroups(watcher: () => void): () => void {
  groupWatchers.add(watcher);
  return () => groupWatchers.delete(watcher);
}

/** `viewer` names the person. */
export function useChosenViews(viewer: string) {
  const text = useSyncExternalStore(watch, () => localStorage.getItem(keyOf(viewer)));
  const chosen = text === null ? undefined : text.split(',').filter((id) => id !== '');
  const choose = useCallback(
    (ids: readonly string[]) => {
      localStorage.setItem(keyOf(viewer), ids.join(','));
      for (const notify of watchers) notify();
    },
    [viewer],
  );
  return { chosen, choose };
}
