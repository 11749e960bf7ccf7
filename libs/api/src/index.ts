export { KeyFailures } from './access/key-failures.js';
export type { ApiDeps, DeviceSettings } from './api-deps.js';
export type { ApiLogger } from './api-logger.js';
export type {
  FleetOperations,
  PeopleOperations,
  PictureFiles,
  ProvisioningOperations,
  ScreenOperations,
  SignInOperations,
} from './fleet-operations.js';
export type { QueryRules } from './limits/admission.js';
export { defaultApiLimits, type ApiLimits } from './limits/api-limits.js';
export { Argon2Passwords } from './sign-in/argon2-passwords.js';
export type { OidcSettings } from './sign-in/oidc-sign-in.js';
export { mountApi, type MountedApi, type UpgradeListener } from './mount/mount-api.js';
