import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { UploadRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { SCREENS } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import type { ScreenOperations } from '../fleet-operations.js';
import type { MutationShowImageArgs, MutationTakeSnapshotArgs, QueryUploadsArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { thumbnailUrl, uploadUrl } from '../rest/upload-urls.js';
import { userErrors } from '../errors/user-errors.js';

/** The default of the schema, also used for null. */
const QUALITY = 80;

/**
 * Uploaded pictures, snapshots of screens, and pictures for screens. rest/upload-routes.ts serves
 * the bytes.
 */
@Resolver('Upload')
export class UploadResolver
  implements
    Serves<'Query', 'uploads'>,
    Serves<'Mutation', 'takeSnapshot' | 'showImage'>,
    Serves<'Upload', 'url' | 'thumbnailUrl'>
{
  constructor(@Inject(SCREENS) private readonly screens: ScreenOperations) {}

  /** Latest first. */
  @Query()
  async uploads(_root: unknown, { deviceId, ...args }: QueryUploadsArgs, { view }: ApiContext) {
    const request = pageRequest(args);
    const filter = deviceId === undefined || deviceId === null ? {} : { deviceId };
    return toConnection(await view.uploads.page(filter, request));
  }

  @Mutation()
  async takeSnapshot(_root: unknown, { deviceId, quality }: MutationTakeSnapshotArgs, context: ApiContext) {
    const { upload, call, refusal } = await this.screens.takeSnapshot(
      { deviceId, quality: quality ?? QUALITY },
      actorOf(context),
    );
    return { upload, call, userErrors: userErrors(refusal) };
  }

  @Mutation()
  async showImage(_root: unknown, args: MutationShowImageArgs, context: ApiContext) {
    const { call, refusal } = await this.screens.showImage(args, actorOf(context));
    return { call, userErrors: userErrors(refusal) };
  }

  @ResolveField()
  url({ id }: UploadRow) {
    return uploadUrl(id);
  }

  @ResolveField()
  thumbnailUrl(upload: UploadRow) {
    return thumbnailUrl(upload);
  }
}
