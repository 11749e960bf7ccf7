/**
 * Saved groups: select one, use its conditions as the filter, save the current filter, edit or
 * delete a group.
 */
import { useRef, useState } from 'react';
import { ActionIcon, Button, Popover, Stack, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { IconBookmark, IconFilterEdit, IconPencil, IconPin, IconPinnedOff, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useFleetScope, useViewer } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { ActButton } from '../../parts/act-button';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { MoreGroups } from '../../parts/groups/groups';
import type { SavedGroupFragment } from '../../parts/groups/generated/groups';
import { groupsChanged, toggledView, useChosenViews, viewsAmong } from '../../shell/views';
import { type DeviceSearch, filterOf, hindranceToSave, parseDeviceSearch, type SaveHindrance } from './device-search';
import classes from './devices.module.css';
import { DeleteDeviceGroupDocument } from './generated/devices';
import { GroupDialog } from './group-dialog';

interface GroupMenuProps {
  readonly search: DeviceSearch;
  readonly groups: readonly SavedGroupFragment[];
  readonly onChange: (change: Partial<DeviceSearch>) => void;
  /** Takes a filter in place of the one that is set. */
  readonly onReplace: (filter: DeviceSearch) => void;
}

export function GroupMenu({ search, groups, onChange, onReplace }: GroupMenuProps) {
  const { t } = useTranslation();
  const mayWrite = useFleetScope('DEVICES_WRITE');
  const { chosen, choose } = useChosenViews(useViewer().name);
  const views = viewsAmong(groups, chosen);
  const [isOpen, setOpen] = useState(false);
  const [edited, setEdited] = useState<SavedGroupFragment | 'new'>();
  const [leaving, setLeaving] = useState<SavedGroupFragment>();
  const button = useRef<HTMLButtonElement>(null);
  const hindrance = hindranceToSave(search);
  const filter = hindrance === undefined ? filterOf(search) : undefined;
  const leave = (then: () => void) => {
    setOpen(false);
    then();
  };
  const closeDialog = () => {
    setEdited(undefined);
    setLeaving(undefined);
    button.current?.focus();
  };
  return (
    <>
      <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus returnFocus width={300}>
        <Popover.Target>
          <ActButton ref={button} icon={IconBookmark} onClick={() => setOpen(!isOpen)}>
            {t('devices.groups')}
          </ActButton>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="sm">
            {groups.length === 0 && (
              <Text size="sm" c="dimmed">
                {t('devices.noGroups')}
              </Text>
            )}
            <ul className={classes.groups}>
              {groups.map((group) => (
                <GroupLine
                  key={group.id}
                  group={group}
                  mayWrite={mayWrite}
                  isView={views.some(({ id }) => id === group.id)}
                  onToggleView={() => choose(toggledView(groups, chosen, group.id))}
                  onChoose={() => leave(() => onChange({ groupId: group.id }))}
                  onShow={() =>
                    leave(() => onReplace(parseDeviceSearch(group.filter as Readonly<Record<string, unknown>>)))
                  }
                  onEdit={() => leave(() => setEdited(group))}
                  onDelete={() => leave(() => setLeaving(group))}
                />
              ))}
            </ul>
            <MoreGroups />
            {mayWrite && <SaveFilter hindrance={hindrance} onSave={() => leave(() => setEdited('new'))} />}
          </Stack>
        </Popover.Dropdown>
      </Popover>
      {edited && <GroupDialog group={edited} filter={filter} onClose={closeDialog} />}
      <DeleteGroup group={leaving} onClose={closeDialog} />
    </>
  );
}

interface SaveFilterProps {
  readonly hindrance: SaveHindrance | undefined;
  readonly onSave: () => void;
}

function SaveFilter({ hindrance, onSave }: SaveFilterProps) {
  const { t } = useTranslation();
  return hindrance === undefined ? (
    <Button variant="default" onClick={onSave}>
      {t('devices.saveGroup')}
    </Button>
  ) : (
    <Text size="xs" c="dimmed">
      {t(`devices.${hindrance}`)}
    </Text>
  );
}

interface GroupLineProps {
  readonly group: SavedGroupFragment;
  readonly mayWrite: boolean;
  /** Whether the side bar shows it. */
  readonly isView: boolean;
  readonly onToggleView: () => void;
  readonly onChoose: () => void;
  readonly onShow: () => void;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

function GroupLine({ group: { name }, mayWrite, isView, ...on }: GroupLineProps) {
  const { t } = useTranslation();
  const acts = [
    {
      name: t(isView ? 'devices.hideView' : 'devices.showView', { name }),
      icon: isView ? IconPinnedOff : IconPin,
      act: on.onToggleView,
    },
    { name: t('devices.groupOpenFilter'), icon: IconFilterEdit, act: on.onShow },
    ...(mayWrite
      ? [
          { name: t('devices.editGroup', { name }), icon: IconPencil, act: on.onEdit },
          { name: t('devices.deleteGroup', { name }), icon: IconTrash, act: on.onDelete },
        ]
      : []),
  ];
  return (
    <li className={classes.group}>
      <UnstyledButton flex={1} miw={0} fz="sm" className="cut" onClick={on.onChoose}>
        {name}
      </UnstyledButton>
      {acts.map(({ name: label, icon: Shape, act }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon aria-label={label} onClick={act}>
            <Shape size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ))}
    </li>
  );
}

interface DeleteGroupProps {
  readonly group: SavedGroupFragment | undefined;
  readonly onClose: () => void;
}

function DeleteGroup({ group, onClose }: DeleteGroupProps) {
  const { t } = useTranslation();
  const act = useHubMutation(DeleteDeviceGroupDocument, (data) => data.deleteDeviceGroup.userErrors);
  const name = group?.name ?? '';
  return (
    <ConfirmMutation
      mutation={act}
      variables={group && { id: group.id }}
      title={t('devices.deleteGroup', { name })}
      text={t('devices.deleteGroupText')}
      act={t('devices.delete')}
      keep={t('keep.group')}
      onClose={onClose}
      onDone={groupsChanged}
    />
  );
}
