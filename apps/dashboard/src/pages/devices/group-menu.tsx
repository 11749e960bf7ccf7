/** Saved groups: shows one, saves the present filter as one, deletes one. */
import { type FormEvent, useState } from 'react';
import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { useAct } from '../../hub/use-act';
import { Confirm } from '../../parts/confirm';
import { ActFailureNotice } from '../../parts/failure';
import { useNotify } from '../../parts/use-notify';
import { type DeviceSearch, filterOf } from './device-search';
import { CreateDeviceGroupDocument, DeleteDeviceGroupDocument } from './generated/devices';

interface SavedGroup {
  readonly id: string;
  readonly name: string;
}

export interface GroupMenuProps {
  readonly search: DeviceSearch;
  readonly groups: readonly SavedGroup[];
  readonly onChange: (change: Partial<DeviceSearch>) => void;
  /** A group was added or is gone. */
  readonly onSaved: () => void;
}

export function GroupMenu({ search, groups, onChange, onSaved }: GroupMenuProps) {
  const { t } = useTranslation();
  const mayWrite = useScope('DEVICES_WRITE');
  const [isOpen, setOpen] = useState(false);
  const [leaving, setLeaving] = useState<SavedGroup>();
  return (
    <>
      <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus width={280}>
        <Popover.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} />} onClick={() => setOpen(!isOpen)}>
            {t('devices.groups')}
          </Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="sm">
            {groups.length === 0 && (
              <Text size="sm" c="dimmed">
                {t('devices.noGroups')}
              </Text>
            )}
            {groups.map((group) => (
              <Group key={group.id} gap="xs" wrap="nowrap">
                <UnstyledButton
                  flex={1}
                  fz="sm"
                  onClick={() => {
                    onChange({ groupId: group.id });
                    setOpen(false);
                  }}
                >
                  {group.name}
                </UnstyledButton>
                {mayWrite && (
                  <ActionIcon aria-label={t('devices.deleteGroup', { name: group.name })} onClick={() => setLeaving(group)}>
                    <IconTrash size={16} />
                  </ActionIcon>
                )}
              </Group>
            ))}
            {mayWrite && <SaveGroup search={search} onSaved={onSaved} />}
          </Stack>
        </Popover.Dropdown>
      </Popover>
      <DeleteGroup group={leaving} onClose={() => setLeaving(undefined)} onDeleted={onSaved} />
    </>
  );
}

/** A group keeps conditions, and no other group. */
function SaveGroup({ search, onSaved }: Pick<GroupMenuProps, 'search' | 'onSaved'>) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [name, setName] = useState('');
  const act = useAct(CreateDeviceGroupDocument, (data) => data.createDeviceGroup.userErrors);
  const filter = filterOf(search);
  const isKept = filter !== undefined && search.groupId === undefined;
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!filter || !(await act.run({ input: { name: name.trim(), filter } }))) return;
    notify(t('devices.groupSaved', { name: name.trim() }));
    setName('');
    onSaved();
  };
  if (!isKept)
    return (
      <Text size="xs" c="dimmed">
        {t('devices.groupNeedsFilter')}
      </Text>
    );
  return (
    <form onSubmit={(event) => void save(event)}>
      <Stack gap="xs">
        <TextInput label={t('devices.groupName')} value={name} onChange={(event) => setName(event.currentTarget.value)} required />
        <ActFailureNotice failure={act.failure} />
        <Button type="submit" variant="default" loading={act.isBusy}>
          {t('devices.saveGroup')}
        </Button>
      </Stack>
    </form>
  );
}

interface DeleteGroupProps {
  readonly group: SavedGroup | undefined;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}

function DeleteGroup({ group, onClose, onDeleted }: DeleteGroupProps) {
  const { t } = useTranslation();
  const act = useAct(DeleteDeviceGroupDocument, (data) => data.deleteDeviceGroup.userErrors);
  const name = group?.name ?? '';
  const confirm = async () => {
    if (!group || !(await act.run({ id: group.id }))) return;
    onClose();
    onDeleted();
  };
  return (
    <Confirm
      isOpen={group !== undefined}
      title={t('devices.deleteGroup', { name })}
      text={t('devices.deleteGroupText')}
      act={t('devices.delete')}
      isBusy={act.isBusy}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <ActFailureNotice failure={act.failure} />
    </Confirm>
  );
}
