/**
 * Creates a group from the current filter, or changes one: name, conditions, time zone and voice
 * servers.
 */
import { useState } from 'react';
import { Checkbox, Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useViewer } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useNotify } from '../../parts/use-notify';
import { groupsChanged, useChosenViews } from '../../shell/views';
import type { SavedGroupFragment } from '../../parts/groups/generated/groups';
import { ZoneField } from '../../parts/zone/zone-field';
import { useConditionTexts } from './condition-text';
import { CreateDeviceGroupDocument, type DeviceFilter, UpdateDeviceGroupDocument } from './generated/devices';
import { conditionsIn } from './stored-filter';

interface GroupDialogProps {
  readonly group: SavedGroupFragment | 'new';
  /** The filter that is set, where a group can have it. */
  readonly filter: DeviceFilter | undefined;
  readonly onClose: () => void;
}

export function GroupDialog({ group, filter, onClose }: GroupDialogProps) {
  const { t } = useTranslation();
  const known = group === 'new' ? undefined : group;
  return (
    <Dialog onClose={onClose} title={known ? t('devices.editGroup', { name: known.name }) : t('devices.newGroup')}>
      <GroupForm {...{ known, filter, onClose }} />
    </Dialog>
  );
}

interface GroupFormProps extends Omit<GroupDialogProps, 'group'> {
  readonly known: SavedGroupFragment | undefined;
}

function GroupForm({ known, filter, onClose }: GroupFormProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [name, setName] = useState(known?.name ?? '');
  const [timeZone, setTimeZone] = useState(known?.timeZone ?? '');
  const [voiceUrl, setVoiceUrl] = useState(known?.voiceUrl ?? '');
  const [takesFilter, setTakesFilter] = useState(known === undefined);
  const { chosen, choose } = useChosenViews(useViewer().name);
  const create = useHubMutation(CreateDeviceGroupDocument, (data) => data.createDeviceGroup.userErrors);
  const update = useHubMutation(UpdateDeviceGroupDocument, (data) => data.updateDeviceGroup.userErrors);
  const save = async () => {
    const kept = known && (known.filter as DeviceFilter);
    const taken = takesFilter ? filter : kept;
    if (taken === undefined) return;
    const input = {
      name: name.trim(),
      filter: taken,
      timeZone: timeZone || null,
      voiceUrl: voiceUrl.trim() || null,
    };
    const saved = known
      ? (await update.run({ id: known.id, input, revision: known.revision }))?.updateDeviceGroup
      : (await create.run({ input }))?.createDeviceGroup;
    // Also after a refusal: opened again, it shows what another person has saved meanwhile.
    groupsChanged();
    if (!saved) return;
    // Who saves a group wants to see it.
    if (!known && chosen && saved.deviceGroup) choose([...chosen, saved.deviceGroup.id]);
    notify(t('devices.groupSaved', { name: input.name }));
    onClose();
  };
  return (
    <DialogForm action={t('common.save')} onSubmit={save} onCancel={onClose} mutations={[create, update]}>
      <TextInput
        label={t('devices.groupName')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
        data-autofocus
      />
      <Members {...{ known, filter, takesFilter }} onTake={setTakesFilter} />
      <ZoneField
        label={t('devices.groupTimeZone')}
        description={t('devices.groupTimeZoneHint')}
        value={timeZone}
        onChange={setTimeZone}
        clearable
      />
      <TextInput
        label={t('devices.groupVoiceUrl')}
        description={t('devices.groupVoiceUrlHint')}
        value={voiceUrl}
        onChange={(event) => setVoiceUrl(event.currentTarget.value)}
      />
    </DialogForm>
  );
}

interface MembersProps {
  readonly known: SavedGroupFragment | undefined;
  readonly filter: DeviceFilter | undefined;
  readonly takesFilter: boolean;
  readonly onTake: (takes: boolean) => void;
}

function Members({ known, filter, takesFilter, onTake }: MembersProps) {
  const { t } = useTranslation();
  const { textOf } = useConditionTexts([]);
  const inWords = (value: unknown) => {
    const conditions = conditionsIn(value);
    return conditions ? textOf(conditions) : JSON.stringify(value);
  };
  return (
    <div>
      <Text size="sm" fw={550}>
        {t('devices.groupWho')}
      </Text>
      <Text
        size="sm"
        c={takesFilter && known ? 'dimmed' : undefined}
        td={takesFilter && known ? 'line-through' : undefined}
      >
        {inWords(known?.filter ?? filter ?? {})}
      </Text>
      {known && filter && (
        <Checkbox
          mt="xs"
          label={t('devices.groupTakeFilter', { filter: inWords(filter) })}
          checked={takesFilter}
          onChange={(event) => onTake(event.currentTarget.checked)}
        />
      )}
    </div>
  );
}
