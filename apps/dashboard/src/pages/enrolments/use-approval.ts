/** The approval of a device: its name, its tags, and the confirmation that it may need. */
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useNotify } from '../../parts/use-notify';
import { ApproveEnrolmentDocument } from './generated/enrolments';

interface ApprovalOptions {
  /** Whether a device with this id is already enrolled, as far as known. */
  readonly replaces: boolean;
  readonly onApproved: () => void;
}

export function useApproval({ replaces, onApproved }: ApprovalOptions) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const [isConfirmed, setConfirmed] = useState(false);
  const mutation = useHubMutation(ApproveEnrolmentDocument, (data) => data.approveEnrolment.userErrors);
  const needsConfirming = replaces || (mutation.failure?.codes.includes('CONFLICT') ?? false);
  /** Resolves to whether the device is approved. */
  const approve = async (code: string): Promise<boolean> => {
    const data = await mutation.run({ code: code.trim(), name: name.trim() || null, tags, confirm: isConfirmed });
    if (!data) return false;
    // Without DEVICES_READ the hub does not show the device.
    const { device } = data.approveEnrolment;
    notify(t('enrolments.approved', { device: device?.name ?? device?.id ?? (name.trim() || code.trim()) }));
    setName('');
    setTags([]);
    setConfirmed(false);
    onApproved();
    return true;
  };
  return { name, setName, tags, setTags, isConfirmed, setConfirmed, needsConfirming, mutation, approve };
}

export type Approval = ReturnType<typeof useApproval>;
