/**
 * Actions for pictures of a device: take a photo, take a snapshot, show a picture. A failed call is
 * shown with its outcome.
 */
import { type FormEvent, useState } from 'react';
import { Group, Stack, TextInput } from '@mantine/core';
import { IconCamera, IconPhotoUp, IconScreenshot } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { sendFile } from '../../hub/send-file';
import type { MutationFailure } from '../../hub/mutation-failure';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { ActButton } from '../../parts/act-button';
import { ChooseFile } from '../../parts/choose-file';
import { CallResult } from '../../parts/outcome/call-result';
import { MutationFailureNotice } from '../../parts/failure';
import { useNotify } from '../../parts/use-notify';
import type { DeviceSeen } from './device-page';
import { type CallLineFragment, CallToolDocument, ShowImageDocument, TakeSnapshotDocument } from './generated/device';

const photoTool = 'self.camera.take_photo';
const snapshotTool = 'self.screen.snapshot';
const showTool = 'self.screen.preview_image';

interface PictureActionsProps {
  readonly device: DeviceSeen;
  /** A picture may be there. */
  readonly onDone: () => void;
}

export function PictureActions({ device, onDone }: PictureActionsProps) {
  const [failed, setFailed] = useState<CallLineFragment>();
  const [mayCall, mayAll] = [useScope('TOOLS_CALL'), useScope('TOOLS_CALL_PRIVILEGED')];
  const has = (name: string) => device.tools.some((tool) => tool.name === name);
  const ended = (call: CallLineFragment | null) => {
    setFailed(call === null || call.outcome === 'SUCCEEDED' ? undefined : call);
    onDone();
  };
  const props = { device, onEnded: ended };
  return (
    <Stack gap="sm">
      {mayCall && has(photoTool) && <TakePhoto {...props} />}
      {mayAll && (has(snapshotTool) || has(showTool)) && (
        <Group gap="xs" align="flex-start">
          {has(snapshotTool) && <TakeSnapshot {...props} />}
          {has(showTool) && <ShowImage {...props} />}
        </Group>
      )}
      {failed && <CallResult call={failed} />}
    </Stack>
  );
}

interface ActProps {
  readonly device: DeviceSeen;
  readonly onEnded: (call: CallLineFragment | null) => void;
}

function TakePhoto({ device, onEnded }: ActProps) {
  const { t } = useTranslation();
  const [question, setQuestion] = useState('');
  const act = useHubMutation(CallToolDocument, ({ callTool }) => (callTool.call === null ? callTool.userErrors : []));
  const take = async (event: FormEvent) => {
    event.preventDefault();
    const asked = question.trim() || t('device.photoQuestionHint');
    const data = await act.run({ input: { deviceId: device.id, tool: photoTool, arguments: { question: asked } } });
    if (data) onEnded(data.callTool.call);
  };
  return (
    <form onSubmit={(event) => void take(event)}>
      <Group gap="xs" align="flex-end">
        <TextInput
          flex="1 1 220px"
          maw={420}
          label={t('device.photoQuestion')}
          placeholder={t('device.photoQuestionHint')}
          value={question}
          onChange={(event) => setQuestion(event.currentTarget.value)}
        />
        <ActButton type="submit" icon={IconCamera} loading={act.isBusy} disabled={device.presence === 'OFFLINE'}>
          {t('device.takePhoto')}
        </ActButton>
      </Group>
      <MutationFailureNotice failure={act.failure} />
    </form>
  );
}

function TakeSnapshot({ device, onEnded }: ActProps) {
  const { t } = useTranslation();
  const act = useHubMutation(TakeSnapshotDocument, ({ takeSnapshot: { call, userErrors } }) =>
    call === null ? userErrors : [],
  );
  const take = async () => {
    const data = await act.run({ id: device.id });
    if (data) onEnded(data.takeSnapshot.call);
  };
  return (
    <div>
      <ActButton
        icon={IconScreenshot}
        loading={act.isBusy}
        disabled={device.presence === 'OFFLINE'}
        onClick={() => void take()}
      >
        {t('device.takeSnapshot')}
      </ActButton>
      <MutationFailureNotice failure={act.failure} />
    </div>
  );
}

function ShowImage({ device, onEnded }: ActProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [refused, setRefused] = useState<MutationFailure>();
  const act = useHubMutation(ShowImageDocument, ({ showImage: { call, userErrors } }) =>
    call === null ? userErrors : [],
  );
  const show = async (file: File | null) => {
    if (file === null) return;
    const sent = await sendFile('/api/uploads', file);
    setRefused('failure' in sent ? sent.failure : undefined);
    if ('failure' in sent) return;
    const data = await act.run({ deviceId: device.id, uploadId: sent.id });
    if (!data) return;
    onEnded(data.showImage.call);
    if (data.showImage.call?.outcome === 'SUCCEEDED') notify(t('device.imageShown'));
  };
  return (
    <div>
      <ChooseFile accept="image/jpeg,image/png,image/webp,image/gif" onChoose={(file) => void show(file)}>
        {(props) => (
          <ActButton {...props} icon={IconPhotoUp} loading={act.isBusy} disabled={device.presence === 'OFFLINE'}>
            {t('device.showImage')}
          </ActButton>
        )}
      </ChooseFile>
      <MutationFailureNotice failure={refused ?? act.failure} />
    </div>
  );
}
