/** Images: taken in, published for boards, rolled out; and which versions the fleet runs. */
import { useState } from 'react';
import { Button, Group } from '@mantine/core';
import { IconPackage } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useFleetScope } from '../../hub/hub';
import { onlyAfter, usePages } from '../../hub/lists/use-pages';
import { Empty } from '../../parts/empty';
import { LoadFailure } from '../../parts/failure';
import { Page } from '../../parts/page';
import { FirmwareHealth } from './firmware-health';
import classes from './firmware.module.css';
import { FirmwareImagesDocument, type FirmwareImagesQuery } from './generated/firmware';
import { ImageCard } from './image-card';
import { SigningKeys } from './signing-keys';
import { UploadImage } from './upload-image';
import { Versions } from './versions';

export function FirmwarePage() {
  const { t } = useTranslation();
  const mayWrite = useFleetScope('FIRMWARE_WRITE');
  const pages = usePages({ query: FirmwareImagesDocument, variables: onlyAfter, listOf });
  const [taken, setTaken] = useState<string>();
  return (
    <Page title={t('firmware.title')} lead={t('firmware.lead')}>
      {mayWrite && (
        <UploadImage
          onTaken={(id) => {
            setTaken(id);
            pages.refresh();
          }}
        />
      )}
      {pages.error && <LoadFailure error={pages.error} onRetry={pages.refresh} />}
      {pages.rows.length === 0 && !pages.isLoading && !pages.error && (
        <Empty icon={IconPackage} title={t('firmware.empty')}>
          {mayWrite ? t('firmware.emptyHint') : undefined}
        </Empty>
      )}
      <div className={classes.images}>
        {pages.rows.map((image) => (
          <ImageCard key={image.id} image={image} isNew={image.id === taken} onChanged={pages.refresh} />
        ))}
      </div>
      {pages.hasMore && (
        <Group justify="center">
          <Button variant="default" loading={pages.isLoading} onClick={pages.loadMore}>
            {t('common.loadMore')}
          </Button>
        </Group>
      )}
      <Versions />
      <FirmwareHealth />
      <SigningKeys onChanged={pages.refresh} />
    </Page>
  );
}

const listOf = ({ firmwareImages }: FirmwareImagesQuery) => firmwareImages;
