/** The list of waves: how many devices each has, and what must hold before the next one opens. */
import { ActionIcon, Select } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { ActButton } from '../../../parts/act-button';
import type { DraftWave } from '../job-draft';
import { NumberField } from '../../../parts/number/number-field';
import { refusedAt } from '../refusals';
import { useWizard } from '../wizard';
import classes from '../new-job.module.css';

const wavesMax = 50;
const weekSeconds = 604_800;

export function WaveEditor() {
  const { t } = useTranslation();
  const { draft, change, refusals } = useWizard();
  const { waves } = draft;
  const refused = refusedAt(refusals, 'waves');
  const set = (index: number, changed: Partial<DraftWave>) =>
    change({ waves: waves.map((wave, at) => (at === index ? { ...wave, ...changed } : wave)) });
  return (
    <>
      {refused !== undefined && (
        <p className={classes.refused} role="alert">
          {refused}
        </p>
      )}
      {waves.map((wave, index) => (
        <Wave
          key={index}
          index={index}
          wave={wave}
          onChange={(changed) => set(index, changed)}
          onRemove={() => change({ waves: waves.filter((_, at) => at !== index) })}
        />
      ))}
      {waves.length < wavesMax && (
        <ActButton
          icon={IconPlus}
          onClick={() =>
            change({ waves: [...waves, { unit: 'percent', size: 100, threshold: 95, soakSeconds: 0, gate: 'AUTO' }] })
          }
          style={{ alignSelf: 'flex-start' }}
        >
          {t('newJob.addWave')}
        </ActButton>
      )}
    </>
  );
}

interface WaveProps {
  readonly index: number;
  readonly wave: DraftWave;
  readonly onChange: (change: Partial<DraftWave>) => void;
  readonly onRemove: () => void;
}

function Wave({ index, wave, onChange, onRemove }: WaveProps) {
  const { t } = useTranslation();
  const { refusals } = useWizard();
  const number = index + 1;
  const refused = (member: string) => refusedAt(refusals, 'waves', String(index), member);
  return (
    <fieldset className={classes.part}>
      <legend className={classes.label}>{t(index === 0 ? 'newJob.canary' : 'newJob.wave', { number })}</legend>
      <WaveSize index={index} wave={wave} onChange={onChange} />
      <NumberField
        label={t('newJob.threshold')}
        suffix=" %"
        min={0}
        max={100}
        fallback={95}
        w={130}
        value={wave.threshold}
        error={refused('successThreshold')}
        onChange={(threshold = 95) => onChange({ threshold })}
      />
      <NumberField
        label={t('newJob.soak')}
        suffix={t('unit.s')}
        min={0}
        max={weekSeconds}
        fallback={0}
        w={130}
        value={wave.soakSeconds}
        error={refused('soakSeconds')}
        onChange={(soakSeconds = 0) => onChange({ soakSeconds })}
      />
      <Select
        label={t('newJob.gate')}
        data={(['AUTO', 'MANUAL'] as const).map((value) => ({ value, label: t(`job.gates.${value}`) }))}
        value={wave.gate}
        onChange={(gate) => onChange({ gate: gate === 'MANUAL' ? 'MANUAL' : 'AUTO' })}
        w={170}
      />
      <ActionIcon aria-label={t('newJob.removeWave', { number })} onClick={onRemove} size="lg">
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </fieldset>
  );
}

function WaveSize({ index, wave, onChange }: Omit<WaveProps, 'onRemove'>) {
  const { t } = useTranslation();
  const { refusals } = useWizard();
  const at = String(index);
  const isShare = wave.unit === 'percent';
  return (
    <>
      <NumberField
        label={t(isShare ? 'newJob.upTo' : 'newJob.devicesIn')}
        min={isShare ? 0.01 : 1}
        max={isShare ? 100 : 1_000_000}
        allowDecimal={isShare}
        fallback={isShare ? 100 : 1}
        w={110}
        value={wave.size}
        error={refusedAt(refusals, 'waves', at) ?? refusedAt(refusals, 'waves', at, isShare ? 'percent' : 'count')}
        onChange={(size = 1) => onChange({ size })}
      />
      <Select
        aria-label={t('newJob.unit')}
        data={(['percent', 'count'] as const).map((value) => ({ value, label: t(`newJob.units.${value}`) }))}
        value={wave.unit}
        onChange={(unit) =>
          onChange({ unit: unit === 'count' ? 'count' : 'percent', size: unit === 'count' ? 10 : 100 })
        }
        w={150}
      />
    </>
  );
}
