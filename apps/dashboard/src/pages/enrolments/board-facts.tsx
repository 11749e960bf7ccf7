/** What a waiting device says about itself, to be compared with the real one. */
import { useTranslation } from 'react-i18next';
import { Time } from '../../parts/time/time';
import classes from './enrolments.module.css';
import type { EnrolmentsQuery } from './generated/enrolments';

interface BoardFactsProps {
  readonly enrolment: EnrolmentsQuery['enrolments']['nodes'][number];
}

export function BoardFacts({ enrolment }: BoardFactsProps) {
  const { t } = useTranslation();
  const { deviceId, model, firmwareVersion, remoteAddress, requestedAt } = enrolment;
  const none = t('common.none');
  return (
    <dl className={classes.facts}>
      <dt>{t('enrolments.device')}</dt>
      <dd>
        <code>{deviceId}</code>
      </dd>
      <dt>{t('enrolments.model')}</dt>
      <dd>{model ?? none}</dd>
      <dt>{t('enrolments.firmware')}</dt>
      <dd>{firmwareVersion ?? none}</dd>
      <dt>{t('enrolments.address')}</dt>
      <dd>{remoteAddress ?? none}</dd>
      <dt>{t('enrolments.requested')}</dt>
      <dd>
        <Time at={requestedAt} />
      </dd>
    </dl>
  );
}
