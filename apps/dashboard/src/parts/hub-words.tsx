/** A sentence of the hub, which speaks English: for readers of another language, after its kind. */
import { useTranslation } from 'react-i18next';
import { beforeHubWords } from './failure-reason';

interface HubWordsProps {
  readonly code: string | null | undefined;
  readonly message: string;
}

export function HubWords({ code, message }: HubWordsProps) {
  const { t, i18n } = useTranslation();
  if (i18n.language === 'en') return message;
  const before = beforeHubWords(code);
  return (
    <>
      {before && `${t(before)} `}
      <span lang="en" className={before && 'soft'}>
        {message}
      </span>
    </>
  );
}
