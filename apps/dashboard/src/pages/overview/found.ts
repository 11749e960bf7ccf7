/** What one read of the Overview found that needs attention. */
import type { Icon } from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';
import type { HubAnswer } from '../../hub/use-hub-query';

export interface Item {
  readonly key: string;
  readonly icon: Icon;
  readonly token: string;
  readonly text: string;
  readonly link: Pick<LinkProps, 'to' | 'search' | 'params'>;
}

export interface Found {
  readonly items: readonly Item[];
  readonly read: HubAnswer<unknown>;
  /** False if the viewer may not read it. */
  readonly isAsked: boolean;
}
