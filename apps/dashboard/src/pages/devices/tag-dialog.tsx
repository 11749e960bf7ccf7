/** Tags of many devices at once: what is added and what is taken away. */
import { useState } from 'react';
import { Button, Group, Stack, TagsInput, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { useNotify } from '../../parts/use-notify';
import { type DeviceFilter, TagDevicesDocument } from './generated/devices';

export interface TagDialogProps {
  readonly isOpen: boolean;
  readonly filter: DeviceFilter;
  /** How many that are now. */
  readonly count: number;
  readonly onClose: () => void;
  readonly onTagged: () => void;
}

export function TagDialog({ isOpen, filter, count, onClose, onTagged }: TagDialogProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [add, setAdd] = useState<string[]>([]);
  const [remove, setRemove] = useState<string[]>([]);
  const act = useHubMutation(TagDevicesDocument, (data) => data.tagDevices.userErrors);
  const change = async () => {
    const data = await act.run({ input: { filter, add, remove } });
    if (!data) return;
    notify(t('devices.tagged', { count: data.tagDevices.changedCount }));
    setAdd([]);
    setRemove([]);
    onClose();
    onTagged();
  };
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t('devices.tagTitle')}>
      <Stack>
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
        <MutationFailureNotice failure={act.failure} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {t('keep.tags')}
          </Button>
          <Button disabled={add.length + remove.length === 0} loading={act.isBusy} onClick={() => void change()}>
            {t('devices.tagAct', { count })}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
