/** Requests of agents with a mistake, and what the answer says about it. */

export const wrongRequests: readonly (readonly [tool: string, args: object, words: RegExp])[] = [
  ['find_devices', { room: 'lobby' }, /"room" is not an argument.*Valid arguments: "search", "tags", "group", "model"/],
  ['find_devices', { presence: 'offline' }, /"presence" must be one of these values: "ONLINE", "OFFLINE"/],
  ['find_devices', { first: 1_000 }, /"first" must be at most 100/],
  ['find_devices', { group: 'Cellar' }, /NOT_FOUND: There is no device group "Cellar"\. Groups: "Lobby"/],
  ['call_tool_on_many', { tool: 'self.reboot' }, /Select devices by ids.*Nothing was done/],
  ['call_tool_on_many', { tool: 'self.reboot', group: 'Lobby', startAt: '3 am' }, /"startAt" must be a time with a/],
  [
    'call_tool_on_many',
    { tool: 'self.reboot', group: 'Lobby', startAt: '2020-01-01T03:00:00Z' },
    /The start has passed.*Nothing was done/,
  ],
  [
    'call_tool_on_many',
    { tool: 'self.reboot', group: 'Lobby', window: { from: '3', to: '5', zone: 'UTC' } },
    /HH:MM.*Nothing was done/,
  ],
  ['create_desired_state', { name: 'All', tool: 'self.reboot', arguments: {} }, /Select devices by ids.*Nothing/],
  [
    'create_desired_state',
    { name: 'Restarts', tool: 'self.reboot', arguments: {}, group: 'Lobby' },
    /readback.*Nothing was done/,
  ],
  [
    'create_recurring_job',
    { name: 'R', tool: 'self.reboot', group: 'Lobby', cron: 'at night', timeZone: 'UTC' },
    /not a cron expression.*Nothing was done/,
  ],
];
