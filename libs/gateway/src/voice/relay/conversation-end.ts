import type { DeviceEnd, HubEnd } from '../../conversations/conversation-host.js';

/** Why a relayed conversation ended. */
export type ConversationEnd =
  | DeviceEnd
  | HubEnd
  | 'backend_closed'
  | 'backend_lost'
  | 'backend_goodbye'
  | 'backend_stalled'
  | 'backend_flooded'
  | 'idle'
  | 'too_long';
