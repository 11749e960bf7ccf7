/** What the device can do: a line for each tool, with a form in it. User-only tools come last. */
import { useMemo, useRef, useState } from 'react';
import { TextInput } from '@mantine/core';
import { IconSearch, IconTool } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';
import type { DeviceSeen } from './device-page';
import classes from './device.module.css';
import { RecentToolsDocument } from './generated/device';
import { ToolList } from './tools/tool-list';
import { keepFavourites, keptFavourites, toolsInOrder } from './tools/tool-order';

export type DeviceTool = DeviceSeen['tools'][number];

interface DeviceToolsProps {
  readonly device: DeviceSeen;
  readonly onCalled: () => void;
}

/** With fewer tools there is nothing to search. */
const searchFrom = 8;

export function DeviceTools({ device, onCalled }: DeviceToolsProps) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const { tools, favourites, toggle } = useOrder(device);
  const wanted = text.trim().toLowerCase();
  const matching = tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted));
  const kinds = [
    { title: t('device.tools'), tools: matching.filter(({ userOnly }) => !userOnly) },
    { title: t('device.userTools'), tools: matching.filter(({ userOnly }) => userOnly) },
  ];
  if (device.tools.length === 0)
    return (
      <Empty icon={IconTool} title={t('device.noTools')}>
        {t('device.noToolsHint')}
      </Empty>
    );
  return (
    <div className={classes.tools}>
      {device.tools.length >= searchFrom && (
        <TextInput
          type="search"
          aria-label={t('device.findTool')}
          placeholder={t('device.findTool')}
          leftSection={<IconSearch size={16} aria-hidden />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      {kinds.map(
        ({ title, tools: shown }) =>
          shown.length > 0 && (
            <Section key={title} title={title}>
              <ToolList {...{ device, favourites, onCalled }} tools={shown} onFavourite={toggle} />
            </Section>
          ),
      )}
      {matching.length === 0 && <p className="soft">{t('device.noToolMatches')}</p>}
    </div>
  );
}

/** A call does not move its tool while the page is open; a star does. */
function useOrder({ id, tools }: DeviceSeen) {
  const [favourites, setFavourites] = useState(keptFavourites);
  const variables = useMemo(() => ({ filter: { deviceId: id } }), [id]);
  const { data } = useHubQuery({ query: RecentToolsDocument, variables });
  const first = useRef<readonly string[]>(undefined);
  first.current ??= data?.calls.nodes.map(({ tool }) => tool);
  const toggle = (name: string) => {
    const next = new Set(favourites);
    if (!next.delete(name)) next.add(name);
    keepFavourites(next);
    setFavourites(next);
  };
  return { tools: toolsInOrder(tools, favourites, first.current ?? []), favourites, toggle };
}
