/** A moment written out with its zone and how far away it is, for schedules and summaries. */
import { useTranslation } from 'react-i18next';
import { Time } from '../time/time';
import { viewerZone } from './time-zones';

/** Formats an instant with its date, time and zone. */
export function useMomentText(): (at: number, zone?: string) => string {
  const { i18n } = useTranslation();
  return (at, zone) => momentText(at, i18n.language, zone);
}

/** In the zone of the viewer unless another one is given. */
function momentText(at: number, language: string, timeZone = viewerZone()): string {
  const date = { year: 'numeric', month: 'short', day: 'numeric', weekday: 'short' } as const;
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;
  return new Intl.DateTimeFormat(language, { ...date, ...time, timeZone }).format(at);
}

interface MomentProps {
  readonly at: number;
  /** The zone in which the moment was entered. The viewer's is added if it is another. */
  readonly zone?: string | undefined;
}

export function Moment({ at, zone = viewerZone() }: MomentProps) {
  const { t } = useTranslation();
  const textOf = useMomentText();
  return (
    <>
      {textOf(at, zone)}
      {zone !== viewerZone() && ` · ${t('zone.yours', { at: textOf(at) })}`}
      {t('mark.open')}
      <Time at={new Date(at).toISOString()} />
      {t('mark.close')}
    </>
  );
}
