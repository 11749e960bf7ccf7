/** A sentence of the hub, which speaks English: for readers of another language, after its kind. */
import { useTranslation } from 'react-i18next';
import { kindOf, translatedCodeOf } from './failure-reason';

interface HubWordsProps {
  readonly code: string | null | undefined;
  readonly message: string;
}

export function HubWords({ code, message }: HubWordsProps) {
  const { t, i18n } = useTranslation();
  if (i18n.language === 'en') return message;
  const [whole, kind] = [translatedCodeOf(code), kindOf(code)];
  return (
    <>
      {whole && `${t(`failure.codes.${whole}`)} `}
      {kind && `${t(`failure.kinds.${kind}`)} `}
      <span lang="en" className={whole || kind ? 'soft' : undefined}>
        {message}
      </span>
    </>
  );
}
