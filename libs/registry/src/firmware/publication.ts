/** Requests and results of the store of firmware images. */
import type { FirmwareImageRow } from './image-rows.js';

export interface Publication {
  readonly id: string;
  /** Boards to add to those that the image is published for. */
  readonly models: readonly string[];
  /** Whether it is published for no other boards then. */
  readonly replacesModels?: boolean;
  /** Undefined keeps the previous notes. */
  readonly notes: string | undefined;
  readonly at: number;
  /** The person who publishes it (`principalRef`). */
  readonly publisherId?: string;
  /** Refuses an image without a valid signature. */
  readonly mustBeSigned?: boolean;
}

export type PublishAnswer =
  | { readonly kind: 'published'; readonly image: FirmwareImageRow }
  | { readonly kind: 'NOT_FOUND' }
  | { readonly kind: 'unsigned' }
  /** Another image of this version is published for this board. */
  | { readonly kind: 'conflict'; readonly model: string; readonly holder: FirmwareImageRow }
  /** All devices of this board with a known chip have another one. */
  | { readonly kind: 'foreign_chip'; readonly model: string; readonly chip: string };

export type RemovalAnswer =
  | { readonly kind: 'removed'; readonly image: FirmwareImageRow }
  | { readonly kind: 'NOT_FOUND' }
  | { readonly kind: 'IN_USE' };

export interface AddedImage {
  readonly image: FirmwareImageRow;
  readonly isNew: boolean;
  /** Whether an earlier upload got its first signature, or one by another key. */
  readonly isSignedNow: boolean;
}
