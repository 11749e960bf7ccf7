export { EventLog } from './sessions/event-log.js';
export { MeasurementRecorder } from './measurements/measurement-recorder.js';
export { BootSigns } from './restarts/boot-signs.js';
export { OpenAuth } from './auth/device-auth.js';
export type {
  AuthRefusal,
  AuthVerdict,
  DeviceAuth,
  MqttCredentials,
  WebSocketCredentials,
} from './auth/device-auth.js';
export { FleetOrOwnAuth } from './auth/fleet-or-own-auth.js';
export { FleetSecretAuth } from './auth/fleet-secret-auth.js';
export { UrlSigner } from './device-urls/url-signer.js';
export type { UrlGrant, UrlPurpose, UrlVerdict } from './device-urls/url-signer.js';
export { DeviceDownloads } from './downloads/device-downloads.js';
export type { DeviceDownloadsOptions } from './downloads/device-downloads.js';
export { defaultDownloadLimits } from './downloads/download-limits.js';
export type { DownloadLimits } from './downloads/download-limits.js';
export { Gateway } from './gateway.js';
export type { UpgradeHandler } from './gateway.js';
export type { GatewayOccupancy, GatewayOptions, GatewayStatus, VoiceOptions } from './gateway-options.js';
export type { GatewayCount } from './gateway-counters.js';
export type { VoiceAnswer, VoiceCalls } from './voice/backend/backend-mcp.js';
export { backendName } from './voice/backend/backend-health.js';
export type { BackendHealth } from './voice/backend/backend-health.js';
export type { BackendProblem } from './voice/backend/backend-unavailable.js';
export type { VoiceServer } from './voice/backend/voice-server.js';
export { GatewayError } from './gateway-error.js';
export type { GatewayErrorCode } from './gateway-error.js';
export { defaultGatewayLimits } from './gateway-limits.js';
export type { GatewayLimits } from './gateway-limits.js';
export type { GatewayLogger } from './gateway-logger.js';
export type { HttpRoute } from './http-route.js';
export type { ClientAddress } from './sessions/session-host.js';
export type { SessionCount } from './sessions/count-sessions.js';
export type { EnrolmentMode } from './provisioning/enrolment/enrolment-service.js';
export { DeviceAddresses, publicHostProblem, publicUrlProblem } from './provisioning/device-addresses.js';
export { GatewayPlaces } from './placement/gateway-places.js';
export { MQTT_TLS_PORT, mqttAddressesOf, mqttEndpointOf, publicMqttProblem } from './placement/mqtt-addresses.js';
export type { MqttAddress } from './placement/mqtt-addresses.js';
export type { AddressSettings } from './provisioning/device-addresses.js';
export { dialNetworkProblem, loopbackNetworks } from './mcpu/dial-networks.js';
export { DialRules } from './mcpu/dial-rules.js';
export type { DialPlace, DialVerdict } from './mcpu/dial-rules.js';
export { issuedSettings } from './provisioning/issued-settings.js';
export { defaultPublishTopic } from './provisioning/ota/ota-answer.js';
export type { TransportSettings } from './provisioning/ota/ota-answer.js';
export { OtaProvisioning } from './provisioning/ota-provisioning.js';
export type { FormerAnswer, FormerRequest, FormerServer } from './provisioning/former/former-server.js';
export type { OtaProvisioningOptions } from './provisioning/ota-provisioning.js';
export { DeviceUploads } from './uploads/device-uploads.js';
export type { DeviceUploadsOptions } from './uploads/device-uploads.js';
export { OpenAiVision } from './uploads/openai-vision.js';
export type { OpenAiVisionOptions } from './uploads/openai-vision.js';
export { ScreenPermits } from './uploads/screen-permits.js';
export type { UploadLimits } from './uploads/upload-limits.js';
export { UploadRefusal } from './uploads/upload-refusal.js';
export type { UploadRefusalCode } from './uploads/upload-refusal.js';
export type { VisionAnswerer } from './uploads/vision-answerer.js';
export type { OfferedUpdate, UpdateOffer } from './provisioning/ota/update-offer.js';
