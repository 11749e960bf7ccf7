/** Tools as lines that open, with a star for favourites. */
import { useId, useState } from 'react';
import { Accordion, ActionIcon } from '@mantine/core';
import { IconStar, IconStarFilled } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../../hub/hub';
import type { DeviceSeen } from '../device-page';
import type { DeviceTool } from '../device-tools';
import { ToolForm } from '../tool-form';
import classes from './tools.module.css';

interface ToolListProps {
  readonly device: DeviceSeen;
  readonly tools: readonly DeviceTool[];
  readonly favourites: ReadonlySet<string>;
  readonly onFavourite: (name: string) => void;
  readonly onCalled: () => void;
}

export function ToolList({ device, tools, favourites, onFavourite, onCalled }: ToolListProps) {
  const ids = useId();
  const mayCall = useScope('TOOLS_CALL');
  const [open, setOpen] = useState<string[]>([]);
  return (
    <Accordion
      multiple
      value={open}
      onChange={setOpen}
      variant="default"
      order={3}
      classNames={{
        content: classes.body ?? '',
        control: classes.control ?? '',
        itemTitle: classes.title ?? '',
        label: classes.label ?? '',
      }}
    >
      {tools.map((tool) => (
        <Accordion.Item key={tool.name} value={tool.name}>
          <div className={classes.line}>
            <Star
              nameId={`${ids}-${tool.name}`}
              name={tool.name}
              isOn={favourites.has(tool.name)}
              onToggle={onFavourite}
            />
            <Accordion.Control>
              <ToolNames nameId={`${ids}-${tool.name}`} tool={tool} isOpen={open.includes(tool.name)} />
            </Accordion.Control>
          </div>
          <Accordion.Panel>
            {open.includes(tool.name) && <ToolForm {...{ device, tool, onCalled, mayCall }} />}
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

interface ToolNamesProps {
  readonly nameId: string;
  readonly tool: DeviceTool;
  readonly isOpen: boolean;
}

function ToolNames({ nameId, tool, isOpen }: ToolNamesProps) {
  const { t } = useTranslation();
  return (
    <span className={classes.names}>
      <span id={nameId} className={isOpen ? classes.name : `${classes.name} cut`}>
        {tool.name}
      </span>
      {tool.policy.disruptive && <span className={classes.mark}>{t('tool.disruptive')}</span>}
      {!isOpen && <span className={`${classes.text} cut`}>{firstLine(tool.description)}</span>}
    </span>
  );
}

interface StarProps {
  readonly nameId: string;
  readonly name: string;
  readonly isOn: boolean;
  readonly onToggle: (name: string) => void;
}

function Star({ nameId, name, isOn, onToggle }: StarProps) {
  const { t } = useTranslation();
  const Icon = isOn ? IconStarFilled : IconStar;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-pressed={isOn}
      aria-label={t('device.favourite')}
      aria-describedby={nameId}
      onClick={() => onToggle(name)}
    >
      <Icon size={15} aria-hidden />
    </ActionIcon>
  );
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
