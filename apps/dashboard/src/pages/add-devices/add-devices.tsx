/** The button that opens the dialog with three ways to add devices, which loads on first use. */
import { Suspense, useState } from 'react';
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { lazyPart } from '../../parts/lazy-part';

const AddDevicesDialog = lazyPart(() => import('./add-devices-dialog').then((part) => part.AddDevicesDialog));

interface AddDevicesProps {
  /** Devices were added, or may have been. */
  readonly onAdded?: () => void;
  readonly isMain?: boolean;
}

export function AddDevices({ onAdded, isMain = false }: AddDevicesProps) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        variant={isMain ? 'filled' : 'default'}
        leftSection={<IconPlus size={16} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {t('addDevices.open')}
      </Button>
      {isOpen && (
        <Suspense>
          <AddDevicesDialog
            onClose={() => {
              setOpen(false);
              onAdded?.();
            }}
          />
        </Suspense>
      )}
    </>
  );
}
