/** Edits the name, tags, time zone, voice servers and transport of a device. */
import { useState } from 'react';
import { Select, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { useIsLimited } from '../../hub/hub';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useNotify } from '../../parts/use-notify';
import { ZoneField } from '../../parts/zone/zone-field';
import { deviceChanges } from './device-changes';
import type { DeviceSeen } from './device-page';
import { type TransportKind, UpdateDeviceDocument } from './generated/device';

/** The transports of an OTA answer. */
const choices = ['MQTT', 'WEBSOCKET'] as const satisfies readonly TransportKind[];

interface EditDeviceProps {
  readonly device: DeviceSeen;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function EditDevice({ device, onClose, onDone }: EditDeviceProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  // As it was when the form opened.
  const [former] = useState(device);
  const [name, setName] = useState(device.name ?? '');
  const [tags, setTags] = useState<string[]>([...device.tags]);
  const [timeZone, setTimeZone] = useState(device.timeZone ?? '');
  const [voiceUrl, setVoiceUrl] = useState(device.voiceUrl ?? '');
  const [transport, setTransport] = useState('');
  const isXiaozhi = device.dialect === 'XIAOZHI';
  const act = useHubMutation(UpdateDeviceDocument, (data) => data.updateDevice.userErrors);
  const save = async () => {
    const changes = deviceChanges(former, {
      name: name.trim() || null,
      tags,
      timeZone: timeZone || null,
      voiceUrl: isXiaozhi ? voiceUrl.trim() || null : former.voiceUrl,
      transport: transport === '' ? undefined : (transport as TransportKind),
    });
    if (!(await act.run({ input: { deviceId: device.id, ...changes } }))) return;
    notify(t('device.saved'));
    onDone();
    onClose();
  };
  return (
    <Dialog onClose={onClose} title={t('device.edit')}>
      <DialogForm action={t('common.save')} onSubmit={save} onCancel={onClose} mutations={[act]}>
        <TextInput
          label={t('device.name')}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <TagsInput
          label={t('device.tags')}
          placeholder={tags.length === 0 ? t('enrolments.tagsHint') : ''}
          value={tags}
          onChange={setTags}
          acceptValueOnBlur
        />
        <ZoneField
          label={t('device.timeZone')}
          description={t('device.timeZoneHint')}
          value={timeZone}
          onChange={setTimeZone}
          clearable
        />
        {isXiaozhi && <ConnectionFields {...{ voiceUrl, setVoiceUrl, transport, setTransport }} />}
      </DialogForm>
    </Dialog>
  );
}

interface ConnectionFieldsProps {
  readonly voiceUrl: string;
  readonly setVoiceUrl: (text: string) => void;
  /** Empty: as it is. */
  readonly transport: string;
  readonly setTransport: (chosen: string) => void;
}

function ConnectionFields({ voiceUrl, setVoiceUrl, transport, setTransport }: ConnectionFieldsProps) {
  const { t } = useTranslation();
  // The hub refuses it to a limited key.
  const mayChooseVoice = !useIsLimited();
  return (
    <>
      {mayChooseVoice && (
        <TextInput
          label={t('device.voiceUrl')}
          description={t('device.voiceUrlHint')}
          value={voiceUrl}
          onChange={(event) => setVoiceUrl(event.currentTarget.value)}
        />
      )}
      <Select
        label={t('device.preferredTransport')}
        description={t('device.transportHint')}
        data={[
          { value: '', label: t('device.transportKeep') },
          ...choices.map((value) => ({ value, label: t(`devices.transports.${value}`) })),
        ]}
        value={transport}
        onChange={(chosen) => setTransport(chosen ?? '')}
      />
    </>
  );
}
