/** The approval of a device: its name, its tags, and the confirmation that it may need. */
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { useNotify } from '../../parts/use-notify';
import { approvalOf, asksToConfirm, type Given } from './confirmation';
import { ApproveEnrolmentDocument } from './generated/enrolments';

interface ApprovalOptions {
  /** The board that is compared with the real one. */
  readonly board: { readonly replaces: boolean } | undefined;
  /** As the device shows it. */
  readonly code: string;
  /**
   * What the person chose and typed. Only another choice takes back a failure and a confirmation:
   * the list of boards changes by itself.
   */
  readonly given: Given;
  readonly onApproved: () => void;
}

export function useApproval({ board, code, given, onApproved }: ApprovalOptions) {
  const { t } = useTranslation();
  const notify = useNotify();
  const [name, setName] = useState('');
  const [tags, setTags] = useState<string[]>([]);
  const approval = approvalOf(given);
  const [tried, setTried] = useState<string>();
  const [asked, setAsked] = useState<string>();
  const [confirmed, setConfirmedFor] = useState<string>();
  const isConfirmed = confirmed === approval;
  const setConfirmed = (isIt: boolean) => setConfirmedFor(isIt ? approval : undefined);
  const mutation = useHubMutation(ApproveEnrolmentDocument, ({ approveEnrolment: { userErrors } }) => {
    if (asksToConfirm(userErrors)) setAsked(approval);
    return userErrors;
  });
  const needsConfirming = board?.replaces === true || asked === approval;
  /** Resolves to whether the device is approved. */
  const approve = async (): Promise<boolean> => {
    setTried(approval);
    const data = await mutation.run({ code: code.trim(), name: name.trim() || null, tags, confirm: isConfirmed });
    if (!data) return false;
    // Without DEVICES_READ the hub does not show the device.
    const { device } = data.approveEnrolment;
    notify(t('enrolments.approved', { device: device?.name ?? device?.id ?? (name.trim() || code.trim()) }));
    setName('');
    setTags([]);
    setConfirmedFor(undefined);
    onApproved();
    return true;
  };
  const shown = { ...mutation, failure: tried === approval ? mutation.failure : undefined };
  return { name, setName, tags, setTags, isConfirmed, setConfirmed, needsConfirming, mutation: shown, approve };
}

export type Approval = ReturnType<typeof useApproval>;
