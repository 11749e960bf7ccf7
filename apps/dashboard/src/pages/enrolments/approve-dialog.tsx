/** Approves a waiting device after its code and its board were compared with the real one. */
import { useState } from 'react';
import { Text, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog/dialog';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { ApprovalFields } from './approval-fields';
import { BoardFacts } from './board-facts';
import classes from './enrolments.module.css';
import type { EnrolmentsQuery } from './generated/enrolments';
import { useApproval } from './use-approval';

type Enrolment = EnrolmentsQuery['enrolments']['nodes'][number];

interface ApproveDialogProps {
  readonly enrolment: Enrolment;
  readonly onClose: () => void;
  readonly onApproved: () => void;
}

export function ApproveDialog({ enrolment, onClose, onApproved }: ApproveDialogProps) {
  const { t } = useTranslation();
  const { code } = enrolment;
  // Only administrators see codes. Others enter the one that the device shows.
  const [typed, setTyped] = useState('');
  const approval = useApproval({
    board: enrolment,
    code: code ?? typed,
    given: { boardId: enrolment.id, code: typed },
    onApproved,
  });
  const approve = async () => {
    if (await approval.approve()) onClose();
  };
  return (
    <Dialog title={t('enrolments.approveDevice')} onClose={onClose}>
      <DialogForm
        action={t('enrolments.approveAct')}
        onSubmit={approve}
        onCancel={onClose}
        mutations={[approval.mutation]}
        isDisabled={approval.needsConfirming && !approval.isConfirmed}
      >
        <Text size="sm">{t(code === null ? 'enrolments.enterCode' : 'enrolments.compare')}</Text>
        {code === null ? (
          <TextInput
            label={t('enrolments.code')}
            description={t('enrolments.codeHint')}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            inputMode="numeric"
            autoComplete="off"
            required
            data-autofocus
          />
        ) : (
          <p className={classes.code}>
            <span className={classes.codeName}>{t('enrolments.code')}</span>
            <code>{code}</code>
          </p>
        )}
        <BoardFacts enrolment={enrolment} />
        <ApprovalFields approval={approval} isFirst={code !== null} />
      </DialogForm>
    </Dialog>
  );
}
