import type { DeviceEnd } from '../../conversations/conversation-host.js';

/** Why a relayed conversation ended. */
export type ConversationEnd =
  | DeviceEnd
  | 'backend_closed'
  | 'backend_lost'
  | 'backend_goodbye'
  | 'backend_stalled'
  | 'backend_flooded'
  | 'idle'
  | 'too_long'
  | 'hub_stopping';
