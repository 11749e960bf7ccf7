/** What the device can do: a form for each tool. Those that are for users only stand apart. */
import { useState } from 'react';
import { Accordion, TextInput } from '@mantine/core';
import { IconSearch, IconTool } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { Empty } from '../../parts/empty';
import { Section } from '../../parts/page';
import type { DeviceSeen } from './device-page';
import classes from './device.module.css';
import { ToolForm } from './tool-form';

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
  const wanted = text.trim().toLowerCase();
  const matching = device.tools.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted),
  );
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
        ({ title, tools }) =>
          tools.length > 0 && (
            <Section key={title} title={title}>
              <ToolList {...{ device, tools, onCalled }} />
            </Section>
          ),
      )}
      {matching.length === 0 && <p className="soft">{t('device.noToolMatches')}</p>}
    </div>
  );
}

function ToolList({ device, tools, onCalled }: DeviceToolsProps & { readonly tools: readonly DeviceTool[] }) {
  const { t } = useTranslation();
  const mayCall = useScope('TOOLS_CALL');
  const [open, setOpen] = useState<string[]>([]);
  return (
    <Accordion
      multiple
      value={open}
      onChange={setOpen}
      variant="default"
      order={3}
      classNames={{ content: classes.toolBody ?? '' }}
    >
      {tools.map((tool) => (
        <Accordion.Item key={tool.name} value={tool.name}>
          <Accordion.Control px={0}>
            <div className={classes.toolName}>
              {tool.name}
              {tool.policy.disruptive && <span className={classes.mark}>{t('tool.disruptive')}</span>}
            </div>
            {!open.includes(tool.name) && (
              <div className={`${classes.toolText} cut`}>{firstLine(tool.description)}</div>
            )}
          </Accordion.Control>
          <Accordion.Panel>
            {open.includes(tool.name) && <ToolForm {...{ device, tool, onCalled, mayCall }} />}
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
