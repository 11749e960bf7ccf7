export { HomeAssistantBridge } from './bridge/home-assistant-bridge.js';
