/** The list of shortcuts, and the switch that turns single keys off. */
import { useState } from 'react';
import { Kbd, Stack, Switch, Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useViewer } from '../../hub/hub';
import { Dialog } from '../../parts/dialog/dialog';
import { controlName } from './control-name';
import { areShortcutsOn, turnShortcuts } from './keyboard-choice';
import { pageKeysFor } from './shortcuts';

interface Shown {
  readonly keys: readonly string[];
  readonly text: string;
}

export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const viewer = useViewer();
  const [isOn, setOn] = useState(areShortcutsOn);
  const shortcuts: readonly Shown[] = [
    { keys: [controlName(), 'K'], text: t('keyboard.palette') },
    { keys: ['/'], text: t('keyboard.search') },
    { keys: ['?'], text: t('keyboard.help') },
    { keys: ['j'], text: t('keyboard.next') },
    { keys: ['k'], text: t('keyboard.previous') },
    { keys: ['Enter'], text: t('keyboard.open') },
    { keys: ['Esc'], text: t('keyboard.close') },
  ];
  const pages = pageKeysFor(viewer).map(({ key, page }) => ({ keys: ['g', key], text: t(`nav.${page}`) }));
  return (
    <Dialog title={t('keyboard.title')} onClose={onClose}>
      <Stack gap="md">
        <Shortcuts label={t('keyboard.title')} shortcuts={shortcuts} />
        <Shortcuts label={t('keyboard.pages')} shortcuts={pages} />
        <Switch
          label={t('keyboard.single')}
          description={t('keyboard.singleHint')}
          checked={isOn}
          onChange={(event) => {
            setOn(event.currentTarget.checked);
            turnShortcuts(event.currentTarget.checked);
          }}
        />
      </Stack>
    </Dialog>
  );
}

function Shortcuts({ label, shortcuts }: { readonly label: string; readonly shortcuts: readonly Shown[] }) {
  return (
    <Table aria-label={label} verticalSpacing={4}>
      <Table.Tbody>
        {shortcuts.map(({ keys, text }) => (
          <Table.Tr key={text}>
            <Table.Th scope="row" fw={400}>
              {text}
            </Table.Th>
            <Table.Td ta="end">
              {keys.map((key) => (
                <Kbd key={key} ml={4}>
                  {key}
                </Kbd>
              ))}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
