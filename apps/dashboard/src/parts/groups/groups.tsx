/** The device groups, which many parts of the console name: read once, for all of them. */
import { createContext, type ReactNode, useContext, useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import type { HubAnswer } from '../../hub/use-hub-query';
import { onlyAfter, usePages } from '../../hub/lists/use-pages';
import { watchGroups } from '../../shell/views';
import { GroupsDocument, type GroupsQuery, type SavedGroupFragment } from './generated/groups';

export interface Groups {
  readonly groups: readonly SavedGroupFragment[];
  /** Whether there are more than a list of choices has. */
  readonly hasMore: boolean;
  /** Its data are missing until groups were read. */
  readonly read: Pick<HubAnswer<readonly SavedGroupFragment[]>, 'data' | 'error' | 'refresh'>;
}

/** Groups that a list of choices has; a longer one says so. */
const groupsAtOnce = 1_000;
/** Ms: other people save groups, too. */
const refreshMs = 60_000;

const GroupsContext = createContext<Groups | undefined>(undefined);

export function GroupsProvider({ children }: { readonly children: ReactNode }) {
  if (useScope('DEVICES_READ')) return <ReadGroups>{children}</ReadGroups>;
  return <GroupsContext value={noGroups}>{children}</GroupsContext>;
}

/** For a key that may not read devices. */
const noGroups: Groups = { groups: [], hasMore: false, read: { data: [], error: undefined, refresh: () => undefined } };

function ReadGroups({ children }: { readonly children: ReactNode }) {
  const { rows, isRead, hasMore, error, refresh } = usePages({
    query: GroupsDocument,
    variables: onlyAfter,
    listOf,
    rowsAtOnce: groupsAtOnce,
    refreshMs,
  });
  useEffect(() => watchGroups(refresh), [refresh]);
  const value = useMemo(() => {
    const data = isRead ? rows : undefined;
    return { groups: rows, hasMore, read: { data, error, refresh } };
  }, [rows, isRead, hasMore, error, refresh]);
  return <GroupsContext value={value}>{children}</GroupsContext>;
}

export function useGroups(): Groups {
  const groups = useContext(GroupsContext);
  if (groups === undefined) throw new Error('There is no GroupsProvider around this component.');
  return groups;
}

/** Says that a list of groups does not have all of them. */
export function MoreGroups() {
  const { t } = useTranslation();
  const { groups, hasMore } = useGroups();
  return hasMore ? <p className="soft">{t('devices.moreGroups', { count: groups.length })}</p> : null;
}

const listOf = ({ deviceGroups }: GroupsQuery) => deviceGroups;
