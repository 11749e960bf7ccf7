/** The parts of the fleet service that the API uses. Reads go to the registry directly. */
import type { IncomingMessage } from 'node:http';
import type {
  AgentGrants,
  Alerts,
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

/** The public members of a class, which specs can replace. */
type Public<Class> = Pick<Class, keyof Class>;

export type FleetOperations = Public<Fleet>;
export type FirmwareOperations = Public<FirmwareImages>;
export type SigningKeyOperations = Public<SigningKeys>;
export type ProvisioningOperations = Public<Provisioning>;
export type PeopleOperations = Public<People>;
export type SignInOperations = Public<SignIns>;
export type ScreenOperations = Public<ScreenPictures>;
export type AlertOperations = Public<Alerts>;
export type WebhookOperations = Public<Webhooks>;
export type GrantOperations = Public<AgentGrants>;

/** Pictures in and out over HTTP. */
export interface PictureFiles {
  /**
   * Reads a form with one file and stores the picture. A refusal has the HTTP status of the answer.
   */
  take(
    request: IncomingMessage,
  ): Promise<UploadRow | { readonly status: number; readonly code: string; readonly message: string }>;
  /** The bytes under a row's key; undefined where they are gone. */
  read(key: string): Promise<BlobBody | undefined>;
}
