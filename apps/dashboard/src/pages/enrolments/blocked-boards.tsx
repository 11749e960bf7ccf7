/** Boards that are blocked now, with the way to unblock each. */
import { useMemo } from 'react';
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useHubMutation } from '../../hub/use-hub-mutation';
import { onlyAfter, type Pages, usePages } from '../../hub/lists/use-pages';
import { LoadFailure, MutationFailureNotice } from '../../parts/failure';
import { Section } from '../../parts/page';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Time } from '../../parts/time/time';
import { useNotify } from '../../parts/use-notify';
import { BlockedBoardsDocument, type BlockedBoardsQuery, UnblockBoardDocument } from './generated/enrolments';

type BlockedBoard = BlockedBoardsQuery['blockedBoards']['nodes'][number];

export function useBlockedBoards(refreshMs: number): Pages<BlockedBoard> {
  return usePages({ query: BlockedBoardsDocument, variables: onlyAfter, listOf, refreshMs });
}

interface BlockedBoardsProps {
  readonly boards: Pages<BlockedBoard>;
  readonly mayDecide: boolean;
  readonly onUnblocked: () => void;
}

export function BlockedBoards({ boards, mayDecide, onUnblocked }: BlockedBoardsProps) {
  const { t } = useTranslation();
  const notify = useNotify();
  const act = useHubMutation(UnblockBoardDocument, (data) => data.unblockBoard.userErrors);
  const { run } = act;
  const columns = useColumns(mayDecide, async ({ deviceId }) => {
    if (!(await run({ deviceId }))) return;
    notify(t('enrolments.unblocked', { device: deviceId }));
    onUnblocked();
  });
  if (boards.error) return <LoadFailure error={boards.error} onRetry={boards.refresh} />;
  if (boards.rows.length === 0) return null;
  return (
    <Section title={t('enrolments.blockedBoards')}>
      <p className="soft">{t('enrolments.blockText')}</p>
      <MutationFailureNotice failure={act.failure} />
      <DataTable
        label={t('enrolments.blockedBoards')}
        columns={columns}
        rows={boards.rows}
        rowKey={({ deviceId }) => deviceId}
        hasMore={boards.hasMore}
        onEnd={boards.loadMore}
        maxHeight="300px"
      />
    </Section>
  );
}

function useColumns(
  mayDecide: boolean,
  onUnblock: (board: BlockedBoard) => Promise<void>,
): readonly Column<BlockedBoard>[] {
  const { t } = useTranslation();
  return useMemo(
    () => [
      { id: 'device', header: t('enrolments.device'), width: 150, cell: ({ deviceId }) => <code>{deviceId}</code> },
      { id: 'model', header: t('enrolments.model'), width: 120, cell: ({ model }) => model ?? t('common.none') },
      {
        id: 'until',
        header: t('enrolments.blockedUntil'),
        width: 120,
        cell: ({ until }) => (until === null ? t('enrolments.noEnd') : <Time at={until} />),
      },
      { id: 'by', header: t('enrolments.blockedBy'), width: 120, cell: ({ blockedBy }) => blockedBy },
      { id: 'at', header: t('enrolments.blockedAt'), width: 110, cell: ({ blockedAt }) => <Time at={blockedAt} /> },
      ...(mayDecide
        ? [
            {
              id: 'acts',
              header: '',
              width: 90,
              grow: 0,
              isStuck: true,
              cell: (board: BlockedBoard) => (
                <Button size="compact-xs" variant="default" onClick={() => void onUnblock(board)}>
                  {t('enrolments.unblock')}
                </Button>
              ),
            },
          ]
        : []),
    ],
    [t, mayDecide, onUnblock],
  );
}

const listOf = ({ blockedBoards }: BlockedBoardsQuery) => blockedBoards;
