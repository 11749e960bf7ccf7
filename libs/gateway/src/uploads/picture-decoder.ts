/**
 * The only place that decodes pictures. Their bytes come from devices and people, so sizes are
 * checked before decoding.
 */
import type { Sharp } from 'sharp';

/** The longer side of a thumbnail, pixels. */
const THUMBNAIL_SIDE = 320;
/**
 * The longer side of a picture for a device, pixels: about the size of these screens. File and
 * picture must fit its memory. [xiaozhi §6.3]
 */
const SCREEN_SIDE = 320;

/** Returns a JPEG. Rejects if the picture cannot be decoded. */
export async function toThumbnail(picture: Buffer, pixelsMax: number): Promise<Buffer> {
  const upright = (await open(picture, pixelsMax)).rotate();
  return fitted(upright, THUMBNAIL_SIDE).flatten({ background: '#ffffff' }).jpeg({ quality: 70 }).toBuffer();
}

/** Returns a PNG, the only format that every such screen decodes. Rejects likewise. */
export async function toScreenPicture(picture: Buffer, pixelsMax: number): Promise<Buffer> {
  const upright = (await open(picture, pixelsMax)).rotate();
  return fitted(upright, SCREEN_SIDE).png({ compressionLevel: 9 }).toBuffer();
}

function fitted(picture: Sharp, side: number): Sharp {
  return picture.resize(side, side, { fit: 'inside', withoutEnlargement: true });
}

/** Loaded with the first picture: a hub without cameras saves tens of megabytes. */
async function open(picture: Buffer, limitInputPixels: number): Promise<Sharp> {
  const { default: sharp } = await import('sharp');
  // One thread, so that decoding does not delay devices; no cache, because no picture is decoded
  // twice.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp(picture, { limitInputPixels, failOn: 'error', pages: 1 });
}
