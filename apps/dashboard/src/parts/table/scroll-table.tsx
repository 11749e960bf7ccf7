/** A small table that scrolls sideways on a narrow page. Long lists use DataTable. */
import type { ReactNode } from 'react';
import { Table } from '@mantine/core';

interface ScrollTableProps {
  readonly label: string;
  /** Px below which it scrolls. */
  readonly minWidth: number;
  readonly headers: readonly string[];
  /** Rows. */
  readonly children: ReactNode;
}

export function ScrollTable({ label, minWidth, headers, children }: ScrollTableProps) {
  return (
    // A region that scrolls must be reachable by keyboard.
    <div tabIndex={0} role="region" aria-label={label} style={{ overflowX: 'auto' }}>
      <Table miw={minWidth}>
        <Table.Thead>
          <Table.Tr>
            {headers.map((header) => (
              <Table.Th key={header}>{header}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </div>
  );
}
