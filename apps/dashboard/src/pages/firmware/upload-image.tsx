/**
 * Uploads an image, dropped or selected. The hub reads its metadata and rejects files that are not
 * images.
 */
import { type DragEvent, useState } from 'react';
import { Button, FileInput, Group, SegmentedControl, TextInput } from '@mantine/core';
import { IconFileUpload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { sendFile } from '../../hub/send-file';
import type { MutationFailure } from '../../hub/mutation-failure';
import { ChooseFile } from '../../parts/choose-file';
import { MutationFailureNotice } from '../../parts/failure';
import { Section } from '../../parts/page';
import { useChosenFile } from '../../parts/use-chosen-file';
import { useNotify } from '../../parts/use-notify';
import classes from './firmware.module.css';

export function UploadImage({ onTaken }: { readonly onTaken: (id: string) => void }) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [kind, setKind] = useState<'FIRMWARE' | 'ASSETS'>('FIRMWARE');
  const [version, setVersion] = useState('');
  const [signature, setSignature] = useState<File | null>(null);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<MutationFailure>();
  const [isTried, setTried] = useState(false);
  const hasVersion = kind === 'FIRMWARE' || version.trim() !== '';
  const isReady = !isSending && hasVersion;
  const send = async (file: File | null | undefined) => {
    setTried(true);
    if (!file || !isReady) return;
    setSending(true);
    setFailure(undefined);
    const proof = signature && { signature: (await signature.text()).trim() };
    const sent = await sendFile('/api/firmware', file, {
      kind,
      ...(kind === 'ASSETS' && { version: version.trim() }),
      ...proof,
    });
    setSending(false);
    if ('failure' in sent) {
      setFailure(sent.failure);
      return;
    }
    setSignature(null);
    setTried(false);
    notify(t('firmware.taken', { file: file.name }));
    onTaken(sent.id);
  };
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
          <TextInput
            label={t('firmware.version')}
            value={version}
            onChange={(event) => setVersion(event.currentTarget.value)}
            // A dropped file is not sent without it.
            error={isTried && !hasVersion && t('firmware.versionFirst')}
            required
          />
        )}
        <SignatureField value={signature} onChange={setSignature} />
      </Group>
      <DropZone {...{ isReady, isSending }} onFile={(file) => void send(file)} />
      <MutationFailureNotice failure={failure} />
    </Section>
  );
}

interface DropZoneProps {
  readonly isReady: boolean;
  readonly isSending: boolean;
  readonly onFile: (file: File | null | undefined) => void;
}

function DropZone({ isReady, isSending, onFile }: DropZoneProps) {
  const { t } = useTranslation();
  const [isOver, setOver] = useState(false);
  // Without it the browser would leave the console and open the file.
  const hold = (event: DragEvent, isHeldOver: boolean) => {
    event.preventDefault();
    setOver(isHeldOver);
  };
  return (
    <div
      className={classes.drop}
      data-over={isOver || undefined}
      onDragOver={(event) => hold(event, true)}
      onDragLeave={(event) => hold(event, false)}
      onDrop={(event) => {
        hold(event, false);
        onFile(event.dataTransfer.files[0]);
      }}
    >
      <IconFileUpload size={26} stroke={1.4} aria-hidden />
      <span>{t(isOver ? 'firmware.dropHere' : 'firmware.drop')}</span>
      <ChooseFile onChoose={onFile} inputProps={{ 'aria-label': t('firmware.file') }} disabled={!isReady}>
        {(props) => (
          <Button {...props} variant="default" size="xs" loading={isSending} disabled={!isReady}>
            {t('firmware.choose')}
          </Button>
        )}
      </ChooseFile>
    </div>
  );
}

interface SignatureFieldProps {
  readonly value: File | null;
  readonly onChange: (file: File | null) => void;
}

/** The detached signature that goes with the file. */
function SignatureField({ value, onChange }: SignatureFieldProps) {
  const { t } = useTranslation();
  const chosen = useChosenFile(onChange);
  return (
    <FileInput
      label={t('firmware.signature')}
      description={t('firmware.signatureHint')}
      placeholder={t('firmware.signatureNone')}
      value={value}
      {...chosen}
      clearable
      clearButtonProps={{ 'aria-label': t('firmware.signatureClear') }}
    />
  );
}
