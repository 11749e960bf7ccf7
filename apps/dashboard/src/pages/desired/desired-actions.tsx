/** Edit, enable, disable and delete a desired state. Disabling and deleting are confirmed. */
import { useState } from 'react';
import { IconPencil, IconPlayerPlay, IconPlayerStop, IconTrash } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { ActButton } from '../../parts/act-button';
import { ConfirmMutation } from '../../parts/dialog/confirm-mutation';
import { MutationFailureNotice } from '../../parts/failure';
import { LinkButton } from '../../parts/link-button';
import {
  DeleteDesiredStateDocument,
  SetDesiredStateEnabledDocument,
  type DesiredSeenFragment,
} from './generated/desired';

interface DesiredActionsProps {
  readonly state: DesiredSeenFragment;
  readonly onChanged: (state: DesiredSeenFragment) => void;
}

export function DesiredActions({ state, onChanged }: DesiredActionsProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'disable' | 'delete'>();
  const enable = useHubMutation(SetDesiredStateEnabledDocument, (data) => data.setDesiredStateEnabled.userErrors);
  const remove = useHubMutation(DeleteDesiredStateDocument, (data) => data.deleteDesiredState.userErrors);
  const show = (changed: DesiredSeenFragment | null | undefined) => {
    if (changed) onChanged(changed);
  };
  if (!state.viewerMayChange) return null;
  return (
    <>
      <MutationFailureNotice failure={asked === undefined ? enable.failure : undefined} />
      <LinkButton
        to="/desired/$id/edit"
        params={{ id: state.id }}
        variant="default"
        leftSection={<IconPencil size={16} aria-hidden />}
      >
        {t('desired.edit')}
      </LinkButton>
      {state.enabled ? (
        <ActButton icon={IconPlayerStop} onClick={() => setAsked('disable')}>
          {t('desired.disable')}
        </ActButton>
      ) : (
        state.pausedReason === null &&
        state.enableScopeMissing === null && (
          <ActButton
            icon={IconPlayerPlay}
            loading={enable.isBusy}
            onClick={() =>
              void enable
                .run({ id: state.id, enabled: true })
                .then((data) => show(data?.setDesiredStateEnabled.desiredState))
            }
          >
            {t('desired.enable')}
          </ActButton>
        )
      )}
      <ActButton icon={IconTrash} onClick={() => setAsked('delete')}>
        {t('desired.delete')}
      </ActButton>
      <ConfirmMutation
        mutation={enable}
        variables={asked === 'disable' ? { id: state.id, enabled: false } : undefined}
        title={t('desired.disableTitle')}
        text={t('desired.disableText', { name: state.name })}
        act={t('desired.disable')}
        keep={t('keep.enabled')}
        onClose={() => setAsked(undefined)}
        onDone={(data) => show(data.setDesiredStateEnabled.desiredState)}
      />
      <ConfirmMutation
        mutation={remove}
        variables={asked === 'delete' ? { id: state.id } : undefined}
        title={t('desired.deleteTitle')}
        text={t('desired.deleteText', { name: state.name })}
        act={t('desired.delete')}
        keep={t('keep.desired')}
        onClose={() => setAsked(undefined)}
        onDone={() => void navigate({ to: '/desired' })}
      />
    </>
  );
}
