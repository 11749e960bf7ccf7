/** Sets how the selected devices connect, from their next OTA request on. */
import { useState } from 'react';
import { Radio, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../../hub/use-hub-mutation';
import { Dialog } from '../../../parts/dialog/dialog';
import { DialogForm } from '../../../parts/dialog/dialog-form';
import { useNotify } from '../../../parts/use-notify';
import type { DeviceFilter } from '../generated/devices';
import { SetDevicesTransportDocument } from '../generated/many-devices';
import { DevicesInWords, useChosenDevices } from './devices-in-words';

interface TransportDialogProps {
  readonly filter: DeviceFilter;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const transports = ['MQTT', 'WEBSOCKET'] as const;
type Transport = (typeof transports)[number];

export function TransportDialog({ filter, onClose, onDone }: TransportDialogProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const chosen = useChosenDevices(filter);
  const [transport, setTransport] = useState<Transport>();
  const act = useHubMutation(SetDevicesTransportDocument, (data) => data.setDevicesTransport.userErrors);
  const count = chosen.count ?? 0;
  const change = async () => {
    if (transport === undefined) return;
    const data = await act.run({ input: { filter, transport, expectedCount: count } });
    if (!data) return chosen.refresh();
    const { changedCount, matchedCount } = data.setDevicesTransport;
    notify(t('selection.transportChanged', { changed: changedCount, matched: matchedCount }));
    onClose();
    onDone();
  };
  return (
    <Dialog title={t('selection.transportTitle', { count })} onClose={onClose}>
      <DialogForm
        action={t('selection.transportChange', { count })}
        keep={t('keep.transport')}
        onSubmit={change}
        onCancel={onClose}
        mutations={[act]}
        isDisabled={transport === undefined || count === 0}
      >
        <DevicesInWords chosen={chosen} />
        <Radio.Group
          label={t('selection.transport')}
          value={transport ?? null}
          onChange={(value) => setTransport(value as Transport)}
        >
          <Stack gap="xs" mt="xs">
            {transports.map((value) => (
              <Radio key={value} value={value} label={t(`devices.transports.${value}`)} />
            ))}
          </Stack>
        </Radio.Group>
        <Text size="sm">{t('selection.transportText')}</Text>
      </DialogForm>
    </Dialog>
  );
}
