/** The columns of the Devices table. */
import { useMemo } from 'react';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { complianceLooks, type ComplianceState } from '../../parts/compliance/compliance-looks';
import { ComplianceBadge } from '../../parts/compliance/compliance-badge';
import type { Column } from '../../parts/table/data-table';
import { Presence } from '../../parts/presence';
import { Time } from '../../parts/time/time';
import type { ColumnId } from './column-choice';
import type { DeviceOrder, DeviceSearch } from './device-search';
import classes from './devices.module.css';
import type { DeviceLineFragment } from './generated/devices';

interface DeviceColumnsOptions {
  readonly shown: ReadonlySet<ColumnId>;
  readonly search: DeviceSearch;
  readonly setSearch: (change: Partial<DeviceSearch>) => void;
}

type DeviceColumn = Column<DeviceLineFragment>;

export function useDeviceColumns({ shown, search, setSearch }: DeviceColumnsOptions): readonly DeviceColumn[] {
  const { t } = useTranslation();
  return useMemo(() => {
    const sort = (order: DeviceOrder) => ({
      isActive: (search.orderBy ?? 'NAME_ASC') === order,
      direction: order === 'LAST_SEEN_DESC' ? ('descending' as const) : ('ascending' as const),
      onChoose: () => setSearch({ orderBy: order }),
    });
    const none = t('common.none');
    const columns: Readonly<Record<ColumnId, Omit<DeviceColumn, 'id' | 'header'>>> = {
      device: { width: 180, grow: 2, sort: sort('NAME_ASC'), cell: (row) => <DeviceCell row={row} /> },
      id: { width: 140, sort: sort('ID_ASC'), cell: ({ id }) => <code>{id}</code> },
      presence: { width: 88, grow: 0, cell: ({ presence }) => <Presence presence={presence} /> },
      model: { width: 124, cell: ({ model }) => model ?? none },
      firmware: { width: 84, grow: 0, cell: ({ firmwareVersion }) => firmwareVersion ?? none },
      tags: {
        width: 130,
        grow: 1.4,
        cell: ({ tags }) => <Tags tags={tags} onChoose={(tag) => setSearch({ tags: [tag] })} />,
      },
      transport: {
        width: 92,
        grow: 0,
        cell: ({ transport }) => (transport === null ? none : t(`devices.transports.${transport}`)),
      },
      dialect: { width: 76, grow: 0, cell: ({ dialect }) => t(`devices.dialects.${dialect}`) },
      desired: { width: 130, grow: 0, cell: ({ desiredStates }) => <DesiredCell states={desiredStates ?? []} /> },
      lastSeen: {
        width: 104,
        grow: 0,
        sort: sort('LAST_SEEN_DESC'),
        cell: ({ presence, lastSeenAt }) => (presence === 'ONLINE' ? t('devices.now') : <Time at={lastSeenAt} />),
      },
      connected: { width: 104, grow: 0, cell: ({ connectedAt }) => <Time at={connectedAt} /> },
    };
    return (Object.keys(columns) as ColumnId[])
      .filter((id) => shown.has(id))
      .map((id): DeviceColumn => ({ id, header: t(`devices.columns.${id}`), ...columns[id] }));
  }, [t, shown, search.orderBy, setSearch]);
}

/** The name and, next to it, the id, because names are not unique. */
function DeviceCell({ row: { id, name, toolsStale } }: { readonly row: DeviceLineFragment }) {
  const { t } = useTranslation();
  return (
    <>
      <Link to="/devices/$id" params={{ id }} className={classes.device}>
        {name ?? <code>{id}</code>}
      </Link>
      {name !== null && <code className={classes.id}>{id}</code>}
      {toolsStale && <span className={classes.stale}>{t('devices.stale')}</span>}
    </>
  );
}

/** The first problem, or that all of them are in sync. */
function DesiredCell({ states }: { readonly states: readonly { readonly state: ComplianceState }[] }) {
  const { t } = useTranslation();
  const [first] = states;
  if (first === undefined) return t('common.none');
  return <ComplianceBadge state={(states.find(({ state }) => complianceLooks[state].isOut) ?? first).state} />;
}

/** In a narrow column the first two or three, and how many more there are. */
function Tags({ tags, onChoose }: { readonly tags: readonly string[]; readonly onChoose: (tag: string) => void }) {
  return (
    <span className={classes.tags} title={tags.join(', ')}>
      {tags.map((tag) => (
        <button key={tag} type="button" className={classes.tag} onClick={() => onChoose(tag)}>
          {tag}
        </button>
      ))}
      {tags.length > 2 && <span className={`${classes.more} ${classes.moreThanTwo}`}>+{tags.length - 2}</span>}
      {tags.length > 3 && <span className={`${classes.more} ${classes.moreThanThree}`}>+{tags.length - 3}</span>}
    </span>
  );
}
