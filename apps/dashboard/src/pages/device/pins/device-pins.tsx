/** The pins of a microcontroller: live values, with switches for outputs. */
import { Group, Slider, Switch, Table } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../../hub/hub';
import { ActButton } from '../../../parts/act-button';
import { Confirm } from '../../../parts/dialog/confirm';
import { MutationFailureNotice } from '../../../parts/failure';
import { Section } from '../../../parts/page';
import { ScrollTable } from '../../../parts/table/scroll-table';
import { Time } from '../../../parts/time/time';
import type { DeviceSeen } from '../device-page';
import classes from './pins.module.css';
import { kindOf, type PinValue } from './pin-values';
import { type LivePins, usePins } from './use-pins';

type Pin = DeviceSeen['pins'][number];

interface Wanted {
  readonly tool: 'gpio_write' | 'pwm_write';
  readonly pin: Pin;
  readonly value: boolean | number;
}

export function DevicePins({ device }: { readonly device: DeviceSeen }) {
  const { t } = useTranslation();
  const live = usePins(device);
  const mayCall = useScope('TOOLS_CALL');
  const [asked, setAsked] = useState<Wanted>();
  const isOnline = device.presence === 'ONLINE';
  const set = (wanted: Wanted) => {
    const isDisruptive = device.tools.some(({ name, policy }) => name === wanted.tool && policy.disruptive);
    if (isDisruptive) setAsked(wanted);
    else void live.write(wanted.tool, wanted.pin.pin, wanted.value);
  };
  const mayWrite = (tool: Wanted['tool']) => mayCall && isOnline && device.tools.some(({ name }) => name === tool);
  return (
    <Section title={t('device.tabs.pins')} actions={mayCall && <Acts live={live} isOnline={isOnline} />}>
      <MutationFailureNotice failure={live.failure} />
      <ScrollTable
        label={t('device.tabs.pins')}
        minWidth={560}
        headers={[t('device.pin'), t('device.pinName'), t('device.pinValue'), t('device.pinType'), t('device.pinText')]}
      >
        {device.pins.map((pin) => (
          <Table.Tr key={pin.pin}>
            <Table.Td>{pin.pin}</Table.Td>
            <Table.Td>
              <code>{pin.name}</code>
            </Table.Td>
            <Table.Td className={classes.value ?? ''}>
              <Value pin={pin} known={live.values[pin.pin]} mayWrite={mayWrite} onSet={set} />
            </Table.Td>
            <Table.Td>{pin.type}</Table.Td>
            <Table.Td>{pin.description ?? t('common.none')}</Table.Td>
          </Table.Tr>
        ))}
      </ScrollTable>
      <p className="soft">{t(isOnline ? 'device.pinsHint' : 'device.pinsOffline')}</p>
      <Confirm
        isOpen={asked !== undefined}
        title={t('tool.disruptiveTitle', { tool: asked?.tool ?? '' })}
        text={t('tool.disruptiveText', { device: device.name ?? device.id })}
        act={t('tool.call')}
        keep={t('keep.uncalled')}
        onConfirm={() => {
          if (asked) void live.write(asked.tool, asked.pin.pin, asked.value);
          setAsked(undefined);
        }}
        onClose={() => setAsked(undefined)}
      />
    </Section>
  );
}

function Acts({ live, isOnline }: { readonly live: LivePins; readonly isOnline: boolean }) {
  const { t } = useTranslation();
  return (
    <Group gap="sm">
      <Switch
        label={t('device.pinsFollow')}
        checked={live.isFollowing}
        disabled={!isOnline}
        onChange={(event) => live.follow(event.currentTarget.checked)}
      />
      <ActButton size="xs" icon={IconRefresh} disabled={!isOnline} onClick={() => void live.readAll()}>
        {t('device.pinsRead')}
      </ActButton>
    </Group>
  );
}

interface ValueProps {
  readonly pin: Pin;
  readonly known: PinValue | undefined;
  readonly mayWrite: (tool: Wanted['tool']) => boolean;
  readonly onSet: (wanted: Wanted) => void;
}

function Value({ pin, known, mayWrite, onSet }: ValueProps) {
  const { t, i18n } = useTranslation();
  const kind = kindOf(pin.type);
  if (kind === 'switch')
    return (
      <Switch
        aria-label={pin.name}
        label={known === undefined ? t('common.unknown') : t(known.value === true ? 'device.high' : 'device.low')}
        checked={known?.value === true}
        disabled={!mayWrite('gpio_write')}
        onChange={(event) => onSet({ tool: 'gpio_write', pin, value: event.currentTarget.checked })}
      />
    );
  if (kind === 'duty')
    return (
      <Duty
        key={String(known?.value)}
        label={pin.name}
        duty={typeof known?.value === 'number' ? known.value : undefined}
        isDisabled={!mayWrite('pwm_write')}
        onSet={(value) => onSet({ tool: 'pwm_write', pin, value })}
      />
    );
  if (known === undefined) return t('common.none');
  const { value, volts, at } = known;
  const number = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 3 });
  return (
    <span className={classes.reading}>
      <span className="figures">
        {typeof value === 'boolean' ? t(value ? 'device.high' : 'device.low') : number.format(value)}
        {volts !== undefined && ` (${number.format(volts)} V)`}
      </span>{' '}
      <span className="soft">
        <Time at={at} />
      </span>
    </span>
  );
}

interface DutyProps {
  readonly label: string;
  /** Undefined: nothing was written since the board connected. */
  readonly duty: number | undefined;
  readonly isDisabled: boolean;
  readonly onSet: (duty: number) => void;
}

const dutyMax = 255;

function Duty({ label, duty, isDisabled, onSet }: DutyProps) {
  const { t } = useTranslation();
  const [moved, setMoved] = useState(duty ?? 0);
  return (
    <span className={classes.duty}>
      <Slider
        flex={1}
        miw={120}
        min={0}
        max={dutyMax}
        value={moved}
        disabled={isDisabled}
        thumbLabel={label}
        onChange={setMoved}
        onChangeEnd={onSet}
      />
      <span className="figures">{duty === undefined ? t('common.unknown') : `${duty} / ${dutyMax}`}</span>
    </span>
  );
}
