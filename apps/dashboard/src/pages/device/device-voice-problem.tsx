/** Says why the last conversation of the device got no voice, where an operator can correct it. */
import { useMemo } from 'react';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useHubQuery } from '../../hub/use-hub-query';
import classes from '../../parts/notice.module.css';
import { DeviceLastConversationDocument } from './generated/device';

/** Ms. */
const refreshMs = 15_000;

const reasons = ['not_bound', 'auth_failed', 'address_forbidden'] as const;

interface VoiceProblem {
  readonly reason: (typeof reasons)[number];
  readonly backend: string;
}

export function DeviceVoiceProblem({ id }: { readonly id: string }) {
  const { t } = useTranslation();
  const variables = useMemo(() => ({ filter: { deviceId: id, types: ['device.conversation'] } }), [id]);
  const { data } = useHubQuery({ query: DeviceLastConversationDocument, variables, refreshMs });
  const problem = voiceProblemIn(data?.events.nodes[0]?.data);
  if (!problem) return null;
  return (
    <div className={classes.failure} role="status" data-uncertain>
      <IconAlertTriangle size={18} className={classes.failureIcon} aria-hidden />
      <div className={classes.failureBody}>
        <p className={classes.failureTitle}>{t('device.voiceProblem.title')}</p>
        <p>{t(`device.voiceProblem.${problem.reason}`, { backend: problem.backend, id })}</p>
      </div>
    </div>
  );
}

/** In the data of an event `device.conversation`. */
function voiceProblemIn(data: unknown): VoiceProblem | undefined {
  if (typeof data !== 'object' || data === null || !('state' in data) || data.state !== 'unavailable') return undefined;
  const given = 'reason' in data ? data.reason : undefined;
  const reason = reasons.find((one) => one === given);
  return reason && { reason, backend: 'backend' in data ? String(data.backend) : '' };
}
