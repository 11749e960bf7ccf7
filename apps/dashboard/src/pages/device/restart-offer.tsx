/** Offers a restart to a device that loses large messages, because a restart ends the fault. */
import { useState } from 'react';
import { Button, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { Confirm } from '../../parts/dialog/confirm';
import { MutationFailureNotice } from '../../parts/failure';
import { useNotify } from '../../parts/use-notify';
import { callFailures } from './call-failures';
import type { DeviceSeen } from './device-page';
import { type CallLineFragment, CallToolDocument } from './generated/device';

const restartTool = 'self.reboot';

interface RestartOfferProps {
  readonly device: DeviceSeen;
  readonly call: CallLineFragment;
  readonly onRestarted: () => void;
}

export function RestartOffer({ device, call, onRestarted }: RestartOfferProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [isAsking, setAsking] = useState(false);
  const act = useHubMutation(CallToolDocument, callFailures);
  const isOffered = call.error?.code === 'LARGE_MESSAGES_LOST' && device.tools.some(({ name }) => name === restartTool);
  if (!isOffered) return null;
  const name = device.name ?? device.id;
  const restart = async () => {
    setAsking(false);
    if (!(await act.run({ input: { deviceId: device.id, tool: restartTool } }))) return;
    notify(t('device.restartSent', { device: name }));
    onRestarted();
  };
  return (
    <>
      <Group>
        <Button variant="default" loading={act.isBusy} onClick={() => setAsking(true)}>
          {t('device.restart')}
        </Button>
      </Group>
      <MutationFailureNotice failure={act.failure} />
      <Confirm
        isOpen={isAsking}
        title={t('device.restartTitle', { device: name })}
        text={t('device.restartText')}
        act={t('device.restart')}
        keep={t('keep.unrestarted')}
        onConfirm={() => void restart()}
        onClose={() => setAsking(false)}
      />
    </>
  );
}
