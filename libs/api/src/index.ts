export { KeyFailures } from './access/key-failures.js';
export type { DeviceSettings } from './api-deps.js';
export type { PictureFiles } from './fleet-operations.js';
export type { QueryRules } from './limits/admission.js';
export { defaultApiLimits, type ApiLimits } from './limits/api-limits.js';
export { Argon2Passwords } from './sign-in/argon2-passwords.js';
export type { OidcSettings } from './sign-in/oidc-sign-in.js';
export { mountApi } from './mount/mount-api.js';
