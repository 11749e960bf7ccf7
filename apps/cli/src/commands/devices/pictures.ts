/** `flotilla devices pictures`, `snapshot` and `show-image`. */
import { expectAccepted } from '@flotilla/client';
import { printChange } from '../../console/output.js';
import { exitCodeOfCall, printOutcome } from '../../tools/call-outcome.js';
import { PicturesDocument, ShowImageDocument, TakeSnapshotDocument } from '../../generated/operations.js';
import { sendUnkeyed } from '../../lost-answer.js';
import { numberOption } from '../../options/number-option.js';
import { eachNode } from '../../pages.js';
import { hubLeaf } from '../command.js';
import { printList, withListOptions } from '../lists.js';
import { withId } from '../../options/shared-options.js';

const aDevice = '02:00:00:00:00:01';
/** A call may take 300 s. Node's fetch waits only 301 s for its answer. */
const callRequest = { timeoutMs: 310_000 };

export const picturesCommand = hubLeaf({
  usage: 'pictures [id]',
  values: ['device'],
  summary: 'List the pictures of a device, or of all devices, latest first',
  examples: [`devices pictures ${aDevice}`],
  options: (args) => withListOptions(args, 50).positional('id', { type: 'string', describe: 'Id of the device' }),
  run: (args, client) => {
    const device = args.id === undefined ? {} : { deviceId: args.id };
    return printList(
      () => eachNode(async (page) => (await client.request(PicturesDocument, { ...device, ...page })).uploads),
      ['id', 'deviceId', 'kind', 'contentType', { key: 'sizeBytes', head: 'BYTES' }, 'at', 'url'],
      args,
    );
  },
});

export const snapshotCommand = hubLeaf({
  usage: 'snapshot <id>',
  values: ['device'],
  summary: 'Take a picture of the screen of a device, and print its address',
  examples: [`devices snapshot ${aDevice}`],
  options: (args) =>
    withId(args, 'Id of the device').option(
      'quality',
      numberOption('quality', 'Quality of the JPEG, from 1 to 100 [80]', { min: 1, max: 100 }),
    ),
  run: async (args, client) => {
    const { id: deviceId, quality } = args;
    const variables = { deviceId, ...(quality === undefined ? {} : { quality }) };
    const { takeSnapshot } = await sendUnkeyed(client.request(TakeSnapshotDocument, variables, callRequest));
    const { upload, call } = expectAccepted(takeSnapshot);
    if (upload !== null) return printChange(upload, args);
    if (call === null) return;
    await printOutcome(call, args);
    return exitCodeOfCall(call);
  },
});

export const showImageCommand = hubLeaf({
  usage: 'show-image <id> <picture>',
  values: ['device'],
  summary: 'Show a stored picture on the screen of a device',
  examples: [`devices show-image ${aDevice} 01990000-0000-7000-8000-000000000009`],
  options: (args) =>
    withId(args, 'Id of the device').positional('picture', {
      type: 'string',
      demandOption: true,
      describe: 'Id of the picture',
    }),
  run: async (args, client) => {
    const variables = { deviceId: args.id, uploadId: args.picture };
    const { showImage } = await sendUnkeyed(client.request(ShowImageDocument, variables, callRequest));
    const { call } = expectAccepted(showImage);
    if (call === null) return;
    await printOutcome(call, args);
    return exitCodeOfCall(call);
  },
});
