export type { ApiDeps, ApiLogger, DeviceSettings } from './api-deps.js';
export type { FleetOperations, PictureFiles, ProvisioningOperations, ScreenOperations } from './fleet-operations.js';
export { defaultApiLimits, type ApiLimits } from './limits/api-limits.js';
export { mountApi, type MountedApi, type UpgradeListener } from './mount-api.js';
