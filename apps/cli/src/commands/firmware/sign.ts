/**
 * `flotilla firmware sign`: key pairs and signatures, created on this computer. The private key is
 * never uploaded.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { messageOf } from '../../error-message.js';
import { printChange, say, write } from '../../console/output.js';
import { UsageError } from '../../exit-codes.js';
import { refuseDash } from '../../json-input.js';
import { leaf } from '../command.js';
import type { GlobalArguments } from '../../options/global-options.js';
import { textOption } from '../../options/shared-options.js';

/** The largest image that a hub accepts, bytes. */
const imageBytesMax = 64 * 1024 * 1024;

export const signCommand = leaf({
  usage: 'sign [image]',
  summary: 'Sign an image, or create a key pair with --new-key; needs no hub',
  examples: ['firmware sign build/xiaozhi.bin --private-key build.pem', 'firmware sign --new-key build.pem'],
  notes:
    'Add the public key to the hub with `flotilla firmware keys add`. Keep the private key secret: it decides what ' +
    'devices run.',
  options: (args) =>
    args
      .positional('image', { type: 'string', describe: 'File to sign' })
      .option(
        'new-key',
        textOption('Create a key pair: the private key in this file, the public key in the same name with .pub'),
      )
      .option('private-key', textOption('PEM file of the Ed25519 key to sign with'))
      .option('stdout', { type: 'boolean', describe: 'Print the signature instead of writing it to <image>.sig' }),
  run: (args) => {
    const { image, newKey, privateKey } = args;
    refuseDash('--new-key', newKey);
    if (newKey !== undefined) {
      if (image !== undefined || privateKey !== undefined || args.stdout === true)
        throw new UsageError('--new-key only creates a key pair. Sign the image with a second command.');
      return createPair(newKey, args);
    }
    if (image === undefined || privateKey === undefined)
      throw new UsageError('Give the image to sign and --private-key, or create a key pair with --new-key.');
    return signImage(image, privateKey, args);
  },
});

async function createPair(file: string, args: GlobalArguments): Promise<void> {
  const publicFile = `${file}.pub`;
  if (existsSync(publicFile))
    throw new UsageError(`${publicFile} exists. Choose another name: a key that is in use must not be lost.`);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  // Fails if the file exists, also if another process creates it at this moment.
  await written(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { flag: 'wx', mode: 0o600 });
  await written(publicFile, publicKey.export({ format: 'pem', type: 'spki' }), { flag: 'wx' });
  await printChange({ privateKey: file, publicKey: publicFile, fingerprint: fingerprintOf(publicKey) }, args);
}

async function signImage(
  image: string,
  keyFile: string,
  args: GlobalArguments & { readonly stdout?: boolean | undefined },
): Promise<void> {
  const key = privateKeyIn(keyFile, await contentOf(keyFile));
  const signature = sign(null, await contentOf(image), key).toString('base64');
  if (args.stdout === true) return write(`${signature}\n`);
  const file = `${image}.sig`;
  await written(file, `${signature}\n`, {});
  await printChange({ image, signature: file, fingerprint: fingerprintOf(createPublicKey(key)) }, args);
  say(`Upload both with: flotilla firmware upload ${image} --signature ${file}`);
}

function privateKeyIn(file: string, content: Buffer): KeyObject {
  const key = keyOf(content);
  if (key === undefined)
    throw new UsageError(`${file} is not a PEM private key without a passphrase. Create one with --new-key.`);
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new UsageError(
    `${file} has a key of the type ${key.asymmetricKeyType ?? 'unknown'}. Create an Ed25519 key with --new-key.`,
  );
}

function keyOf(content: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(content);
  } catch {
    return undefined;
  }
}

/** As the hub shows it: SHA-256 of the 32 raw bytes, which are the end of the DER form. */
function fingerprintOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ format: 'der', type: 'spki' }).subarray(-32))
    .digest('hex');
}

async function contentOf(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size > imageBytesMax)
      throw new UsageError(
        `${file} has more than ${imageBytesMax / 1024 / 1024} MiB. The hub accepts no larger images.`,
      );
    return await readFile(file);
  } catch (error) {
    throw error instanceof UsageError
      ? error
      : new UsageError(`${file} cannot be read: ${messageOf(error)}. Check its name and rights.`);
  }
}

async function written(
  file: string,
  content: string | Buffer,
  options: { readonly flag?: string; readonly mode?: number },
): Promise<void> {
  try {
    await writeFile(file, content, options);
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw new UsageError(
      exists
        ? `${file} exists and is not overwritten. Choose another name.`
        : `${file} cannot be written: ${messageOf(error)}. Check its folder and rights.`,
    );
  }
}
