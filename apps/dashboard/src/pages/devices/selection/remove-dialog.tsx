/** Removes the selected devices after a confirmation that says how many, and names some. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../../hub/use-hub-mutation';
import { Dialog } from '../../../parts/dialog/dialog';
import { useHold } from '../../../parts/dialog/hold';
import { MutationFailureNotice } from '../../../parts/failure';
import { useNotify } from '../../../parts/use-notify';
import type { DeviceFilter } from '../generated/devices';
import { RemoveDevicesDocument } from '../generated/many-devices';
import { DevicesInWords, useChosenDevices } from './devices-in-words';

interface RemoveDialogProps {
  readonly filter: DeviceFilter;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function RemoveDialog({ filter, onClose, onDone }: RemoveDialogProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const chosen = useChosenDevices(filter);
  const act = useHubMutation(RemoveDevicesDocument, (data) => data.removeDevices.userErrors);
  const isHeld = useHold(act.isBusy);
  const { count } = chosen;
  const remove = async () => {
    const data = await act.run({ input: { filter, expectedCount: count ?? 0 } });
    // Another number matches now: the next confirmation is of that.
    if (!data) return chosen.refresh();
    notify(t('selection.removed', { count: data.removeDevices.removedCount }));
    onClose();
    onDone();
  };
  return (
    <Dialog title={t('selection.removeTitle', { count: count ?? 0 })} onClose={onClose} isHeld={act.isBusy}>
      <Stack>
        <DevicesInWords chosen={chosen} />
        <Text size="sm">{t('selection.removeText')}</Text>
        <MutationFailureNotice failure={act.failure} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} disabled={isHeld} data-autofocus>
            {t('keep.devices')}
          </Button>
          <Button color="red" loading={act.isBusy} disabled={!count} onClick={() => void remove()}>
            {t('selection.removeAct', { count: count ?? 0 })}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
