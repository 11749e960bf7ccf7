/** The waves of a job, with the gate behind each. */
import { Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Section } from '../../parts/page';
import { ScrollTable } from '../../parts/table/scroll-table';
import { Time } from '../../parts/time/time';
import type { JobSeenFragment } from './generated/job';
import classes from './job.module.css';
import { shareFormat } from './share-format';

type Wave = JobSeenFragment['waves'][number];

interface JobWavesProps {
  readonly waves: readonly Wave[];
  readonly currentWave: number;
  /** The current wave waits for a person to open the next one. */
  readonly isAtGate: boolean;
}

export function JobWaves({ waves, currentWave, isAtGate }: JobWavesProps) {
  const { t, i18n } = useTranslation();
  const percent = shareFormat(i18n.language);
  return (
    <Section title={t('job.waves')}>
      <ScrollTable
        label={t('job.waves')}
        minWidth={680}
        headers={[
          t('job.wave'),
          t('job.waveState'),
          t('job.waveDone'),
          t('job.waveSucceeded'),
          t('job.gate'),
          t('job.opened'),
          t('job.closed'),
        ]}
      >
        {waves.map((wave) => (
          <Table.Tr
            key={wave.number}
            data-current={wave.number === currentWave || undefined}
            className={classes.wave ?? ''}
          >
            <Table.Td>{wave.number}</Table.Td>
            <Table.Td>
              {t(`job.waveStates.${isAtGate && wave.number === currentWave ? 'atGate' : standOf(wave)}`)}
            </Table.Td>
            <Table.Td>{t('overview.jobProgress', { decided: wave.decided, total: wave.size })}</Table.Td>
            <Table.Td>
              {wave.successShare === null ? t('common.none') : percent.format(wave.successShare)}
              {wave.number < waves.length && (
                <span className="soft"> {t('job.needs', { least: percent.format(wave.successThreshold) })}</span>
              )}
            </Table.Td>
            <Table.Td>
              {wave.number < waves.length ? t(`job.gates.${wave.gate}`) : t('common.none')}
              {wave.soakSeconds > 0 && t('mark.comma') + t('job.soak', { count: wave.soakSeconds })}
              {wave.approvedBy !== null && t('mark.comma') + wave.approvedBy}
            </Table.Td>
            <Table.Td>{wave.openedAt === null ? t('common.none') : <Time at={wave.openedAt} form="full" />}</Table.Td>
            <Table.Td>{wave.closedAt === null ? t('common.none') : <Time at={wave.closedAt} form="full" />}</Table.Td>
          </Table.Tr>
        ))}
      </ScrollTable>
    </Section>
  );
}

function standOf({ openedAt, closedAt }: Wave): 'open' | 'done' | 'waiting' {
  if (closedAt !== null) return 'done';
  return openedAt === null ? 'waiting' : 'open';
}
