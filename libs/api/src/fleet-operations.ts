/** What the API asks of the fleet service: the acts that reach devices and jobs, those that let devices in and out, and those on firmware images. Reading goes to the registry directly. */
import type { IncomingMessage } from 'node:http';
import type {
  FirmwareImages,
  Fleet,
  People,
  Provisioning,
  ScreenPictures,
  SigningKeys,
  SignIns,
  Webhooks,
} from '@flotilla/fleet';
import type { UploadRow } from '@flotilla/registry';
import type { BlobBody } from '@flotilla/storage';

export type FleetOperations = Pick<
  Fleet,
  | 'previewJob'
  | 'rerunJob'
  | 'approveJob'
  | 'denyJob'
  | 'createApiKey'
  | 'revokeApiKey'
  | 'createDeviceGroup'
  | 'updateDeviceGroup'
  | 'deleteDeviceGroup'
  | 'setToolPolicy'
  | 'deleteToolPolicy'
  | 'callTool'
  | 'chooseVoiceServers'
  | 'createJob'
  | 'pauseJob'
  | 'resumeJob'
  | 'cancelJob'
  | 'openNextWave'
  | 'revertJob'
  | 'refreshTools'
>;

export type FirmwareOperations = Pick<FirmwareImages, 'upload' | 'publish' | 'withdraw' | 'remove'>;

export type SigningKeyOperations = Pick<SigningKeys, 'add' | 'remove'>;

export type ProvisioningOperations = Pick<
  Provisioning,
  | 'registerDevices'
  | 'removeDevice'
  | 'rotateDeviceCredential'
  | 'refuseDialled'
  | 'setDeviceTransport'
  | 'approveEnrolment'
  | 'rejectEnrolment'
  | 'createEnrolmentLink'
  | 'revokeEnrolmentLink'
>;

export type PeopleOperations = Pick<People, 'createUser' | 'updateUser' | 'changePassword' | 'signOutEverywhere'>;

export type SignInOperations = Pick<SignIns, 'whoIs' | 'withPassword' | 'withOidc' | 'signOut' | 'browserKnownMs'>;

/** What is on devices' screens. */
export type ScreenOperations = Pick<ScreenPictures, 'takeSnapshot' | 'showImage'>;

export type WebhookOperations = Pick<Webhooks, 'create' | 'update' | 'remove' | 'redeliver'>;

/** Pictures in and out over HTTP. */
export interface PictureFiles {
  /** Reads the body, a form with one file, and keeps the picture. A refusal has the status to answer with. */
  take(
    request: IncomingMessage,
  ): Promise<UploadRow | { readonly status: number; readonly code: string; readonly message: string }>;
  /** The bytes under a row's key; undefined where they are gone. */
  read(key: string): Promise<BlobBody | undefined>;
}
