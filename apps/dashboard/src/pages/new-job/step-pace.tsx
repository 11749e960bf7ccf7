/** How many at a time, how many a minute, in which waves. */
import { ActionIcon, Button, Group, NumberInput, SegmentedControl, Select, Stack } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { canaryWaves, type DraftWave } from './job-draft';
import type { StepProps } from './new-job-page';
import classes from './new-job.module.css';

export function StepPace({ draft, change }: StepProps) {
  const { t } = useTranslation();
  const { waves } = draft;
  const setWave = (index: number, changed: Partial<DraftWave>) =>
    change({ waves: waves.map((wave, at) => (at === index ? { ...wave, ...changed } : wave)) });
  return (
    <Stack>
      <Group align="flex-end">
        <NumberInput
          label={t('newJob.maxInFlight')}
          min={1}
          value={draft.maxInFlight}
          onChange={(value) => change({ maxInFlight: Number(value) || 1 })}
          w={180}
        />
        <NumberInput
          label={t('newJob.perMinute')}
          placeholder={t('newJob.noLimit')}
          min={1}
          value={draft.perMinute ?? ''}
          onChange={(value) => change({ perMinute: value === '' ? undefined : Number(value) })}
          w={180}
        />
      </Group>
      <div>
        <div className={classes.label}>{t('newJob.waves')}</div>
        <SegmentedControl
          aria-label={t('newJob.waves')}
          value={waves.length === 0 ? 'once' : 'waves'}
          onChange={(kind) => change({ waves: kind === 'once' ? [] : canaryWaves })}
          data={(['once', 'waves'] as const).map((value) => ({ value, label: t(`newJob.waveKinds.${value}`) }))}
        />
      </div>
      {waves.map((wave, index) => (
        <Wave
          key={index}
          number={index + 1}
          wave={wave}
          onChange={(changed) => setWave(index, changed)}
          onRemove={() => change({ waves: waves.filter((_, at) => at !== index) })}
        />
      ))}
      {waves.length > 0 && (
        <Button
          variant="default"
          leftSection={<IconPlus size={16} />}
          onClick={() => change({ waves: [...waves, { percent: 100, threshold: 95, soakSeconds: 0, gate: 'AUTO' }] })}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('newJob.addWave')}
        </Button>
      )}
    </Stack>
  );
}

interface WaveProps {
  readonly number: number;
  readonly wave: DraftWave;
  readonly onChange: (change: Partial<DraftWave>) => void;
  readonly onRemove: () => void;
}

function Wave({ number, wave, onChange, onRemove }: WaveProps) {
  const { t } = useTranslation();
  return (
    <fieldset className={classes.wave}>
      <legend className={classes.label}>{t('newJob.wave', { number })}</legend>
      <NumberInput
        label={t('newJob.percent')}
        min={0}
        max={100}
        value={wave.percent}
        onChange={(value) => onChange({ percent: Number(value) })}
        w={130}
      />
      <NumberInput
        label={t('newJob.threshold')}
        min={0}
        max={100}
        value={wave.threshold}
        onChange={(value) => onChange({ threshold: Number(value) })}
        w={150}
      />
      <NumberInput
        label={t('newJob.soak')}
        min={0}
        value={wave.soakSeconds}
        onChange={(value) => onChange({ soakSeconds: Number(value) })}
        w={130}
      />
      <Select
        label={t('job.gate')}
        data={(['AUTO', 'MANUAL'] as const).map((value) => ({ value, label: t(`job.gates.${value}`) }))}
        value={wave.gate}
        onChange={(gate) => onChange({ gate: gate === 'MANUAL' ? 'MANUAL' : 'AUTO' })}
        w={200}
      />
      <ActionIcon aria-label={t('newJob.removeWave', { number })} onClick={onRemove} size="lg">
        <IconTrash size={16} />
      </ActionIcon>
    </fieldset>
  );
}
