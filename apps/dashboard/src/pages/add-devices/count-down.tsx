/** Counts down to a time, each second. */
import { useState } from 'react';
import { useInterval } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { timeLeft } from './time-left';

/** `until`: RFC 3339. */
export function CountDown({ until }: { readonly until: string }) {
  const { i18n } = useTranslation();
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), 1_000, { autoInvoke: true });
  const words = timeLeft(Date.parse(until), now).map(([unit, count]) =>
    new Intl.NumberFormat(i18n.language, { style: 'unit', unit, unitDisplay: 'long' }).format(count),
  );
  // A timer is not read aloud each second.
  return <span role="timer">{words.join(' ')}</span>;
}
