/**
 * Approves one board after another by the codes that they show. A board is shown for comparison as
 * soon as it is known which one it is.
 */
import { useState } from 'react';
import { Stack, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useScope } from '../../hub/hub';
import { onlyAfter, usePages } from '../../hub/lists/use-pages';
import { DialogForm } from '../../parts/dialog/dialog-form';
import { LoadFailure } from '../../parts/failure';
import { Time } from '../../parts/time/time';
import { ApprovalFields } from '../enrolments/approval-fields';
import { BoardFacts } from '../enrolments/board-facts';
import { EnrolmentsDocument, type EnrolmentsQuery } from '../enrolments/generated/enrolments';
import { useApproval } from '../enrolments/use-approval';
import classes from './add-devices.module.css';
import { chosenBoard } from './chosen-board';
import { LoopbackHint } from './loopback-hint';

type Waiting = EnrolmentsQuery['enrolments']['nodes'][number];

/** Boards that wait. More are seldom, and a person can still approve them by their code. */
const rowsAtOnce = 1_000;

/** Ms: a board that is switched on now appears while the dialog is open. */
const refreshMs = 3_000;

export function ByCode({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const isAdmin = useScope('ADMIN');
  const { rows: waiting, error, hasMore, isLoading, refresh } = usePages(waitingBoards);
  const [typed, setTyped] = useState('');
  const [selected, setSelected] = useState<Waiting>();
  const { board: chosen, code } = chosenBoard(waiting, selected, typed);
  const given = { boardId: selected?.id, code: typed };
  const approval = useApproval({ board: chosen, code, given, onApproved: refresh });
  const approve = async () => {
    if (!(await approval.approve())) return;
    setTyped('');
    setSelected(undefined);
  };
  const type = (text: string) => {
    setTyped(text);
    // Beside a chosen board one types the code that the list hides, unless the board is gone.
    if (selected?.code !== null || !waiting.some(({ id }) => id === selected.id)) setSelected(undefined);
  };
  return (
    <DialogForm
      action={t('enrolments.approveAct')}
      keep={t('common.close')}
      onSubmit={approve}
      onCancel={onClose}
      mutations={[approval.mutation]}
      isDisabled={approval.needsConfirming && !approval.isConfirmed}
    >
      {error && <LoadFailure error={error} onRetry={refresh} />}
      <Text size="sm">{t('addDevices.codeText', { url: `${location.origin}/ota/` })}</Text>
      <LoopbackHint address={location.origin} />
      <TextInput
        label={t('enrolments.code')}
        description={t('enrolments.codeHint')}
        value={typed}
        maxLength={12}
        onChange={(event) => type(event.currentTarget.value)}
        inputMode="numeric"
        autoComplete="off"
        required={(chosen?.code ?? null) === null}
        data-autofocus
      />
      {chosen ? (
        <Compare board={chosen} />
      ) : isAdmin && typed.trim().length >= 6 ? (
        <Text size="sm" role="status">
          {t(hasMore ? 'addDevices.noBoardListed' : 'addDevices.noBoard', { count: waiting.length })}
        </Text>
      ) : (
        <>
          {(waiting.length > 0 || (!isLoading && !error)) && <WaitingList waiting={waiting} onChoose={setSelected} />}
          {hasMore && <Text size="sm">{t('addDevices.moreWait', { count: waiting.length })}</Text>}
        </>
      )}
      <ApprovalFields approval={approval} />
    </DialogForm>
  );
}

const listOf = ({ enrolments }: EnrolmentsQuery) => enrolments;
const waitingBoards = { query: EnrolmentsDocument, variables: onlyAfter, listOf, rowsAtOnce, refreshMs };

function Compare({ board }: { readonly board: Waiting }) {
  const { t } = useTranslation();
  return (
    <section className={classes.compare} aria-label={t('addDevices.compare')}>
      <Text size="sm">{t(board.code === null ? 'enrolments.enterCode' : 'enrolments.compare')}</Text>
      {board.code !== null && <code className={classes.code}>{board.code}</code>}
      <BoardFacts enrolment={board} />
    </section>
  );
}

interface WaitingListProps {
  readonly waiting: readonly Waiting[];
  readonly onChoose: (board: Waiting) => void;
}

function WaitingList({ waiting, onChoose }: WaitingListProps) {
  const { t } = useTranslation();
  if (waiting.length === 0)
    return (
      <Text size="sm" c="dimmed" role="status">
        {t('addDevices.noneWaits')}
      </Text>
    );
  return (
    <Stack gap={4}>
      <Text size="sm" fw={550} id="waiting-boards">
        {t('addDevices.waiting')}
      </Text>
      <ul className={classes.waiting} aria-labelledby="waiting-boards">
        {waiting.map((board) => (
          <li key={board.id}>
            <UnstyledButton className={classes.board} onClick={() => onChoose(board)}>
              <code>{board.deviceId}</code>
              <span className="cut">{board.model ?? t('common.unknown')}</span>
              <Time at={board.requestedAt} />
            </UnstyledButton>
          </li>
        ))}
      </ul>
    </Stack>
  );
}
