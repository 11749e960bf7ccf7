/** Everything that was chosen, step by step, with the way back to each. */
import type { ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import { useRuleText } from '../../parts/job/rule-text';
import { HoursText } from '../../parts/zone/hours-text';
import { Moment } from '../../parts/zone/moment';
import { instantsOf } from '../../parts/zone/zoned-time';
import { FilterText } from '../devices/filter-text';
import { JobImageNameDocument } from './generated/new-job';
import type { DraftWave } from './job-draft';
import type { StepName } from './job-steps';
import { ruleOf } from './job-input';
import { useWizard } from './wizard';
import classes from './new-job.module.css';

export function JobSummary({ onStep }: { readonly onStep: (step: StepName) => void }) {
  const { t } = useTranslation();
  const { draft } = useWizard();
  const ruleText = useRuleText();
  return (
    <dl className={classes.summary}>
      <Line step="what" onStep={onStep}>
        {draft.name.trim() !== '' && <div>{draft.name.trim()}</div>}
        {draft.kind === 'firmware' ? (
          <ImageName />
        ) : (
          <>
            <code>{draft.tool}</code> <code className="soft">{JSON.stringify(draft.arguments)}</code>
          </>
        )}
      </Line>
      <Line step="whom" onStep={onStep}>
        <div>
          <Targets />
        </div>
        <div>{t('newJob.offlineIs', { policy: t(`newJob.offlineKinds.${draft.offline}`) })}</div>
      </Line>
      <Line step="pace" onStep={onStep}>
        <Pace />
      </Line>
      <Line step="stop" onStep={onStep}>
        {draft.rules.length === 0
          ? t('newJob.noRules')
          : draft.rules.map((rule, index) => <div key={index}>{ruleText(ruleOf(rule))}</div>)}
      </Line>
    </dl>
  );
}

function Targets() {
  const { t } = useTranslation();
  const { ids, devices } = useWizard().draft;
  if (ids === undefined) return <FilterText filter={devices} />;
  const chosen = t('newJob.chosen', { count: ids.length });
  return devices.hasTool === undefined
    ? chosen
    : chosen + t('mark.comma') + t('newJob.onlyWithTool', { tool: devices.hasTool });
}

function ImageName() {
  const { draft } = useWizard();
  const id = draft.firmwareImageId;
  const { data } = useHubQuery({ query: JobImageNameDocument, variables: { id: id ?? '' }, pause: id === undefined });
  const image = data?.firmwareImage;
  return image ? `${image.project} ${image.version}` : draft.firmwareImageId;
}

interface LineProps {
  readonly step: StepName;
  readonly onStep: (step: StepName) => void;
  readonly children: ReactNode;
}

function Line({ step, onStep, children }: LineProps) {
  const { t } = useTranslation();
  const name = t(`newJob.steps.${step}`);
  return (
    <div className={classes.line}>
      <dt>{name}</dt>
      <dd>{children}</dd>
      <dd>
        <Button
          variant="subtle"
          size="compact-xs"
          onClick={() => onStep(step)}
          aria-label={t('newJob.changeStep', { step: name })}
        >
          {t('newJob.change')}
        </Button>
      </dd>
    </div>
  );
}

function Pace() {
  const { t } = useTranslation();
  const { draft } = useWizard();
  const { perMinute, startAt, window, waves } = draft;
  const start = startAt === undefined ? undefined : instantsOf(startAt, draft.startZone)[0];
  const waveText = ({ unit, size, gate }: DraftWave) =>
    [
      t(unit === 'percent' ? 'newJob.upToShare' : 'newJob.devicesCount', { count: size }),
      t('mark.open'),
      t(`job.gates.${gate}`),
      t('mark.close'),
    ].join('');
  return (
    <>
      <div>{waves.length === 0 ? t('newJob.waveKinds.once') : waves.map(waveText).join(' → ')}</div>
      <div>
        {perMinute === undefined ? t('newJob.noPace') : t('job.perMinute', { count: perMinute })}
        {t('mark.comma') + t('newJob.inFlight', { count: draft.maxInFlight })}
      </div>
      {start !== undefined && (
        <div>
          {t('newJob.startMoment') + t('mark.colon')}
          <Moment at={start} zone={draft.startZone} />
        </div>
      )}
      {window && <HoursText hours={window} />}
    </>
  );
}
