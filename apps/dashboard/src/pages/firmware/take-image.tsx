/** Takes an image in, dropped or chosen. What it is it says itself; a file that is no image is refused by the hub. */
import { useState } from 'react';
import { Button, Group, SegmentedControl, TextInput } from '@mantine/core';
import { IconFileUpload } from '@tabler/icons-react';
import { useDropzone } from 'react-dropzone';
import { useTranslation } from 'react-i18next';
import { sendFile } from '../../hub/send-file';
import type { ActFailure } from '../../hub/use-act';
import { ActFailureNotice } from '../../parts/failure';
import { Section } from '../../parts/page';
import { useNotify } from '../../parts/use-notify';
import classes from './firmware.module.css';

export function TakeImage({ onTaken }: { readonly onTaken: (id: string) => void }) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [kind, setKind] = useState<'FIRMWARE' | 'ASSETS'>('FIRMWARE');
  const [version, setVersion] = useState('');
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<ActFailure>();
  const send = async (file: File) => {
    setSending(true);
    setFailure(undefined);
    const sent = await sendFile('/api/firmware', file, { kind, ...(kind === 'ASSETS' && { version: version.trim() }) });
    setSending(false);
    if ('failure' in sent) {
      setFailure(sent.failure);
      return;
    }
    notify(t('firmware.taken', { file: file.name }));
    onTaken(sent.id);
  };
  const { getRootProps, getInputProps, isDragActive, open } = useDropzone({
    multiple: false,
    noClick: true,
    noKeyboard: true,
    disabled: isSending || (kind === 'ASSETS' && version.trim() === ''),
    onDropAccepted: ([file]) => {
      if (file) void send(file);
    },
  });
  return (
    <Section title={t('firmware.take')}>
      <Group mb="sm" align="flex-end">
        <SegmentedControl
          aria-label={t('firmware.kind')}
          value={kind}
          onChange={(chosen) => setKind(chosen as 'FIRMWARE')}
          data={(['FIRMWARE', 'ASSETS'] as const).map((value) => ({ value, label: t(`firmware.kinds.${value}`) }))}
        />
        {kind === 'ASSETS' && (
          <TextInput label={t('firmware.version')} value={version} onChange={(event) => setVersion(event.currentTarget.value)} required />
        )}
      </Group>
      <div
        {...getRootProps({ role: 'group', 'aria-label': t('firmware.take') })}
        className={classes.drop}
        data-over={isDragActive || undefined}
      >
        <input {...getInputProps({ 'aria-label': t('firmware.file') })} />
        <IconFileUpload size={26} stroke={1.4} aria-hidden />
        <span>{t(isDragActive ? 'firmware.dropHere' : 'firmware.drop')}</span>
        <Button variant="default" size="xs" loading={isSending} onClick={open}>
          {t('firmware.choose')}
        </Button>
      </div>
      <ActFailureNotice failure={failure} />
    </Section>
  );
}
