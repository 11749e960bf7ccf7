/** What the API asks of the fleet service: the acts that reach devices and jobs, those that let devices in and out, and those on firmware images. Reading goes to the registry directly. */
import type { FirmwareImages, Fleet, Provisioning } from '@flotilla/fleet';

export type FleetOperations = Pick<
  Fleet,
  'setToolPolicy' | 'deleteToolPolicy' | 'callTool' | 'createJob' | 'pauseJob' | 'resumeJob' | 'cancelJob' | 'refreshTools'
>;

export type FirmwareOperations = Pick<FirmwareImages, 'upload' | 'publish' | 'withdraw' | 'remove'>;

export type ProvisioningOperations = Pick<
  Provisioning,
  | 'registerDevices'
  | 'removeDevice'
  | 'rotateDeviceCredential'
  | 'setDeviceTransport'
  | 'approveEnrolment'
  | 'rejectEnrolment'
  | 'createEnrolmentLink'
  | 'revokeEnrolmentLink'
>;
