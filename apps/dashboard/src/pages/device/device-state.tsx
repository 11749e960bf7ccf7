/** What the device last said of itself, value by value. */
import { useTranslation } from 'react-i18next';
import { isObject } from '../../parts/unknown-values';
import { Section } from '../../parts/page';
import { Time } from '../../parts/time/time';
import type { DeviceSeen } from './device-page';
import classes from './device.module.css';

export function DeviceState({ device: { reportedState, reportedStateAt } }: { readonly device: DeviceSeen }) {
  const { t } = useTranslation();
  const tools = isObject(reportedState) ? Object.entries(reportedState) : [];
  return (
    <Section
      title={t('device.state')}
      actions={
        reportedStateAt !== null && (
          <span className={classes.note}>
            {t('device.stateChanged')} <Time at={reportedStateAt} />
          </span>
        )
      }
    >
      {tools.length === 0 && <p className="soft">{t('device.noState')}</p>}
      {tools.map(([tool, state]) => (
        <div key={tool}>
          <h3 className={classes.stateTool}>{tool}</h3>
          <dl className={classes.state}>
            {leavesOf(state).map(([path, value]) => (
              <Leaf key={path} path={path} value={value} />
            ))}
          </dl>
        </div>
      ))}
    </Section>
  );
}

function Leaf({ path, value }: { readonly path: string; readonly value: unknown }) {
  return (
    <>
      <dt>{path}</dt>
      <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
    </>
  );
}

/** `audio_speaker.volume: 70` and so on. */
function leavesOf(value: unknown, path: readonly string[] = []): readonly (readonly [string, unknown])[] {
  if (!isObject(value)) return [[path.join('.') || '–', value]];
  return Object.entries(value).flatMap(([name, part]) => leavesOf(part, [...path, name]));
}
