/** The one place where pictures are decoded. Their bytes come from devices and people, so what they claim to be is bounded before it is believed. */
import type { Sharp } from 'sharp';

/** The longer side of a thumbnail, pixels. */
const THUMBNAIL_SIDE = 320;
/** The longer side of what a device is shown, pixels: about the size of these screens, because the file and the picture have to fit its memory. [xiaozhi §6.3] */
const SCREEN_SIDE = 320;

/** JPEG. Rejects where the bytes are no picture that can be decoded. */
export async function toThumbnail(picture: Buffer, pixelsMax: number): Promise<Buffer> {
  const upright = (await open(picture, pixelsMax)).rotate();
  return fitted(upright, THUMBNAIL_SIDE).flatten({ background: '#ffffff' }).jpeg({ quality: 70 }).toBuffer();
}

/** PNG, the one format that every such screen decodes. Rejects likewise. */
export async function toScreenPicture(picture: Buffer, pixelsMax: number): Promise<Buffer> {
  const upright = (await open(picture, pixelsMax)).rotate();
  return fitted(upright, SCREEN_SIDE).png({ compressionLevel: 9 }).toBuffer();
}

function fitted(picture: Sharp, side: number): Sharp {
  return picture.resize(side, side, { fit: 'inside', withoutEnlargement: true });
}

/** Loaded at the first picture: it takes tens of megabytes that a hub without cameras does not need. */
async function open(picture: Buffer, limitInputPixels: number): Promise<Sharp> {
  const { default: sharp } = await import('sharp');
  // Decoding stays on one thread, so that it cannot crowd out what devices wait for; nothing is decoded twice.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp(picture, { limitInputPixels, failOn: 'error', pages: 1 });
}
