/** What the API asks of the fleet service: the acts that reach devices and jobs, and those that let devices in and out. Reading goes to the registry directly. */
import type { Fleet, Provisioning } from '@flotilla/fleet';

export type FleetOperations = Pick<
  Fleet,
  'setToolPolicy' | 'deleteToolPolicy' | 'callTool' | 'createJob' | 'pauseJob' | 'resumeJob' | 'cancelJob' | 'refreshTools'
>;

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
