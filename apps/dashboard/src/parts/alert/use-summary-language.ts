/** The language in which the hub writes the sentences of alerts: that of the console. */
import { useTranslation } from 'react-i18next';

export function useSummaryLanguage(): 'EN' | 'ZH' {
  const { i18n } = useTranslation();
  return i18n.language === 'zh' ? 'ZH' : 'EN';
}
