export { HomeAssistantBridge } from './bridge/home-assistant-bridge.js';
export type { HomeAssistantDeps, HomeAssistantSettings } from './bridge/home-assistant-bridge.js';
export type { CommandResult } from './bridge/command-runner.js';
export type { BrokerAccess } from './bridge/mqtt-link.js';
