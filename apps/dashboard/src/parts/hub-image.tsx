/** A picture from the hub, fetched with the viewer's key, which an image address cannot carry. */
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { authorization } from '../hub/session';

interface HubImageProps {
  readonly url: string;
  readonly alt: string;
  readonly className?: string | undefined;
}

export function HubImage({ url, alt, className }: HubImageProps) {
  const { t } = useTranslation();
  const [source, setSource] = useState<string>();
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    let made: string | undefined;
    const load = async () => {
      const answer = await fetch(url, { headers: authorization(), signal: abort.signal });
      if (!answer.ok) throw new Error(`The hub answered ${answer.status}.`);
      const blob = await answer.blob();
      if (abort.signal.aborted) return;
      made = URL.createObjectURL(blob);
      setSource(made);
    };
    load().catch(() => {
      if (!abort.signal.aborted) setLost(true);
    });
    return () => {
      abort.abort();
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [url]);
  if (isLost) return <span className="soft">{t('device.pictureLost')}</span>;
  return source === undefined ? (
    <span className={className} aria-busy />
  ) : (
    <img src={source} alt={alt} className={className} />
  );
}
