/** Boards of a former server and how many of them are where. */
import { useCallback } from 'react';
import { useQuery } from 'urql';
import { type Page as PageOfRows, type Pages, usePages } from '../../../hub/lists/use-pages';
import {
  MovingBoardsDocument,
  type MovingBoardsQuery,
  MovingSummaryDocument,
  type MovingSummaryQuery,
} from './generated/moving';

export type MovingBoard = MovingBoardsQuery['movingBoards']['nodes'][number];
export type ShownState = 'ALL' | MovingBoard['state'];

export interface MovingBoardsList {
  readonly boards: Pages<MovingBoard>;
  readonly summary: MovingSummaryQuery['movingSummary'] | undefined;
  readonly refresh: () => void;
}

export function useMovingBoards(shown: ShownState): MovingBoardsList {
  const variables = useCallback((after: string | null) => ({ after, state: shown === 'ALL' ? null : shown }), [shown]);
  const boards = usePages({ query: MovingBoardsDocument, variables, pageOf });
  const [{ data }, readSummary] = useQuery({ query: MovingSummaryDocument });
  const { refresh: readBoards } = boards;
  const refresh = useCallback(() => {
    readBoards();
    readSummary({ requestPolicy: 'network-only' });
  }, [readBoards, readSummary]);
  return { boards, summary: data?.movingSummary, refresh };
}

function pageOf({ movingBoards: { nodes, pageInfo } }: MovingBoardsQuery): PageOfRows<MovingBoard> {
  return { rows: nodes, endCursor: pageInfo.endCursor, hasNextPage: pageInfo.hasNextPage };
}
