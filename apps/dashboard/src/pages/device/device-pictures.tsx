/** Pictures that the device took or sent of its screen, as they come. */
import { useCallback, useMemo, useState } from 'react';
import { Button, Stack } from '@mantine/core';
import { IconPhoto } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { useSubscription } from 'urql';
import { useScope } from '../../hub/hub';
import { usePages } from '../../hub/lists/use-pages';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { HubImage } from '../../parts/hub-image';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import type { DeviceSeen } from './device-page';
import classes from './device.module.css';
import {
  DevicePictureNewsDocument,
  DevicePicturesDocument,
  type DevicePicturesQuery,
  type PictureFragment,
} from './generated/device';
import { PictureActions } from './picture-actions';

export function DevicePictures({ device }: { readonly device: DeviceSeen }) {
  const { t } = useTranslation();
  const variablesAfter = useCallback((after: string | null) => ({ id: device.id, after }), [device.id]);
  const pages = usePages({ query: DevicePicturesDocument, variables: variablesAfter, listOf });
  const { rows: pictures, error, hasMore, isLoading, loadMore, refresh } = pages;
  const variables = useMemo(() => ({ filter: { deviceId: device.id, types: ['upload.received'] } }), [device.id]);
  useSubscription({ query: DevicePictureNewsDocument, variables, pause: !useScope('EVENTS_READ') }, (_seen, news) => {
    refresh();
    return news;
  });
  const [looked, setLooked] = useState<PictureFragment>();
  return (
    <Section title={t('device.tabs.pictures')}>
      <Stack>
        <PictureActions device={device} onDone={refresh} />
        {error && <LoadFailure error={error} onRetry={refresh} />}
        {pictures.length === 0 && !isLoading && !error && (
          <Empty icon={IconPhoto} title={t('device.noPictures')}>
            {t('device.noPicturesHint')}
          </Empty>
        )}
        <ul className={classes.pictures}>
          {pictures.map((picture) => (
            <li key={picture.id}>
              <button type="button" className={classes.picture} onClick={() => setLooked(picture)}>
                <HubImage
                  url={picture.thumbnailUrl ?? picture.url}
                  alt={t(`device.kind.${picture.kind}`)}
                  className={classes.thumbnail}
                />
              </button>
              <div className={classes.note}>
                {t(`device.kind.${picture.kind}`) + t('mark.comma')}
                <Time at={picture.at} />
              </div>
              {picture.answer !== null && <div className={classes.note}>{picture.answer}</div>}
            </li>
          ))}
        </ul>
        {hasMore && (
          <Button variant="default" loading={isLoading} onClick={loadMore} style={{ alignSelf: 'flex-start' }}>
            {t('common.loadMore')}
          </Button>
        )}
      </Stack>
      <Dialog
        isOpen={looked !== undefined}
        onClose={() => setLooked(undefined)}
        title={looked && t(`device.kind.${looked.kind}`)}
        size="xl"
      >
        {looked && (
          <Stack>
            <HubImage url={looked.url} alt={t(`device.kind.${looked.kind}`)} className={classes.full} />
            {looked.question !== null && <p className="soft">{looked.question}</p>}
            {looked.answer !== null && <p>{looked.answer}</p>}
          </Stack>
        )}
      </Dialog>
    </Section>
  );
}

const listOf = ({ uploads }: DevicePicturesQuery) => uploads;
