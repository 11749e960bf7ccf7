/** Tags of many devices at once: what is added and what is taken away. */
import { useState } from 'react';
import { TagsInput, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useNotify } from '../../parts/use-notify';
import { type DeviceFilter, TagDevicesDocument } from './generated/devices';

interface TagDialogProps {
  readonly filter: DeviceFilter;
  /** How many that are now. */
  readonly count: number;
  readonly onClose: () => void;
  readonly onTagged: () => void;
}

export function TagDialog({ filter, count, onClose, onTagged }: TagDialogProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [add, setAdd] = useState<string[]>([]);
  const [remove, setRemove] = useState<string[]>([]);
  const act = useHubMutation(TagDevicesDocument, (data) => data.tagDevices.userErrors);
  const change = async () => {
    const data = await act.run({ input: { filter, add, remove } });
    if (!data) return;
    notify(t('devices.tagged', { count: data.tagDevices.changedCount }));
    onClose();
    onTagged();
  };
  return (
    <Dialog onClose={onClose} title={t('devices.tagTitle')}>
      <DialogForm
        action={t('devices.tagAct', { count })}
        keep={t('keep.tags')}
        onSubmit={change}
        onCancel={onClose}
        mutations={[act]}
        isDisabled={add.length + remove.length === 0}
      >
        <Text size="sm">{t('devices.tagWhom', { count })}</Text>
        <TagsInput
          label={t('devices.tagAdd')}
          placeholder={t('enrolments.tagsHint')}
          value={add}
          onChange={setAdd}
          data-autofocus
          acceptValueOnBlur
        />
        <TagsInput
          label={t('devices.tagRemove')}
          placeholder={t('enrolments.tagsHint')}
          value={remove}
          onChange={setRemove}
          acceptValueOnBlur
        />
      </DialogForm>
    </Dialog>
  );
}
