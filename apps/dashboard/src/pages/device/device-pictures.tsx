/** Pictures that the device took or sent of its screen, and pictures for its screen. */
import { useMemo, useState } from 'react';
import { Button, FileButton, Group, Modal, Stack } from '@mantine/core';
import { IconPhoto, IconPhotoUp, IconScreenshot } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useSubscription } from 'urql';
import { useScope } from '../../hub/hub';
import { sendFile } from '../../hub/send-file';
import { type ActFailure, useAct } from '../../hub/use-act';
import { useHubQuery } from '../../hub/use-hub-query';
import { Empty } from '../../parts/empty';
import { ActFailureNotice, LoadFailure } from '../../parts/failure';
import { HubImage } from '../../parts/hub-image';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time';
import { useNotify } from '../../parts/use-notify';
import type { DeviceSeen } from './device-page';
import classes from './device.module.css';
import {
  DevicePictureNewsDocument,
  DevicePicturesDocument,
  type PictureFragment,
  ShowImageDocument,
  TakeSnapshotDocument,
} from './generated/device';

const snapshotTool = 'self.screen.snapshot';
const showTool = 'self.screen.preview_image';

export function DevicePictures({ device }: { readonly device: DeviceSeen }) {
  const { t } = useTranslation();
  const { data, error, refresh } = useHubQuery({ query: DevicePicturesDocument, variables: { id: device.id } });
  const variables = useMemo(() => ({ filter: { deviceId: device.id, types: ['upload.received'] } }), [device.id]);
  useSubscription({ query: DevicePictureNewsDocument, variables, pause: !useScope('EVENTS_READ') }, (_seen, news) => {
    refresh();
    return news;
  });
  const [looked, setLooked] = useState<PictureFragment>();
  const pictures = data?.uploads.nodes ?? [];
  return (
    <Section title={t('device.tabs.pictures')}>
      <Stack>
        <PictureActs device={device} onDone={refresh} />
        {error && <LoadFailure error={error} onRetry={refresh} />}
        {data && pictures.length === 0 && (
          <Empty icon={IconPhoto} title={t('device.noPictures')}>
            {t('device.noPicturesHint')}
          </Empty>
        )}
        <ul className={classes.pictures}>
          {pictures.map((picture) => (
            <li key={picture.id}>
              <button type="button" className={classes.picture} onClick={() => setLooked(picture)}>
                <HubImage url={picture.thumbnailUrl ?? picture.url} alt={t(`device.kind.${picture.kind}`)} className={classes.thumbnail} />
              </button>
              <div className={classes.note}>
                {t(`device.kind.${picture.kind}`)}, <Time at={picture.at} />
              </div>
              {picture.answer !== null && <div className={classes.note}>{picture.answer}</div>}
            </li>
          ))}
        </ul>
      </Stack>
      <Modal
        opened={looked !== undefined}
        onClose={() => setLooked(undefined)}
        title={looked && t(`device.kind.${looked.kind}`)}
        size="xl"
        closeButtonProps={{ 'aria-label': t('common.close') }}
      >
        {looked && (
          <Stack>
            <HubImage url={looked.url} alt={t(`device.kind.${looked.kind}`)} className={classes.full} />
            {looked.question !== null && <p className="soft">{looked.question}</p>}
            {looked.answer !== null && <p>{looked.answer}</p>}
          </Stack>
        )}
      </Modal>
    </Section>
  );
}

function PictureActs({ device, onDone }: { readonly device: DeviceSeen; readonly onDone: () => void }) {
  const { t } = useTranslation();
  const notify = useNotify();
  const isAllowed = useScope('TOOLS_CALL_PRIVILEGED');
  const snapshot = useAct(TakeSnapshotDocument, (data) => data.takeSnapshot.userErrors);
  const show = useAct(ShowImageDocument, (data) => data.showImage.userErrors);
  const [refused, setRefused] = useState<ActFailure>();
  const has = (name: string) => device.tools.some((tool) => tool.name === name);
  if (!isAllowed || !(has(snapshotTool) || has(showTool))) return null;
  const isOffline = device.presence === 'OFFLINE';
  const takeSnapshot = async () => {
    if (await snapshot.run({ id: device.id })) onDone();
  };
  const showFile = async (file: File | null) => {
    if (file === null) return;
    const sent = await sendFile('/api/uploads', file);
    setRefused('failure' in sent ? sent.failure : undefined);
    if ('failure' in sent || !(await show.run({ deviceId: device.id, uploadId: sent.id }))) return;
    notify(t('device.imageShown'));
  };
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {has(snapshotTool) && (
          <Button
            variant="default"
            leftSection={<IconScreenshot size={16} />}
            loading={snapshot.isBusy}
            disabled={isOffline}
            onClick={() => void takeSnapshot()}
          >
            {t('device.takeSnapshot')}
          </Button>
        )}
        {has(showTool) && (
          <FileButton accept="image/jpeg,image/png,image/webp,image/gif" onChange={(file) => void showFile(file)}>
            {(props) => (
              <Button {...props} variant="default" leftSection={<IconPhotoUp size={16} />} loading={show.isBusy} disabled={isOffline}>
                {t('device.showImage')}
              </Button>
            )}
          </FileButton>
        )}
      </Group>
      <ActFailureNotice failure={snapshot.failure ?? refused ?? show.failure} />
    </Stack>
  );
}
