/** The language in which the hub writes the sentences of this page. */
import { useTranslation } from 'react-i18next';
import type { Language } from './generated/alerts';

export function useSummaryLanguage(): Language {
  const { i18n } = useTranslation();
  return i18n.language === 'zh' ? 'ZH' : 'EN';
}
