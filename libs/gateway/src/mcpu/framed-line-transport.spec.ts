import { linkedPair } from '@flotilla/mcp';
import { describeTransport } from '@flotilla/mcp/transport.suite';
import { describe, expect, it } from 'vitest';
import { FramedLineTransport } from './framed-line-transport.js';

const listing = '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}}';

function open() {
  const { near, far } = linkedPair((deliver) => deliver());
  const heard: string[] = [];
  const sent: string[] = [];
  let overlong = 0;
  const furtherLines: number[] = [];
  const transport = new FramedLineTransport(near, {
    onOverlong: () => (overlong += 1),
    onFurtherLines: (lines) => furtherLines.push(lines),
  });
  transport.onmessage = (text) => heard.push(text);
  far.onmessage = (text) => sent.push(text);
  transport.start();
  far.start();
  return { transport, far, heard, sent, furtherLines, overlong: () => overlong };
}

describeTransport('lines over messages', () => {
  const { near, far } = linkedPair(queueMicrotask);
  const received: string[] = [];
  far.onmessage = (text) => received.push(text.trimEnd());
  far.start();
  const farEnd = {
    send: (text: string) => void far.send(Buffer.from(`${text}\r\n`).toString('latin1')),
    close: () => far.close('device_closed'),
    received,
  };
  const options = { onOverlong: () => undefined, onFurtherLines: () => undefined };
  return Promise.resolve({ near: new FramedLineTransport(near, options), far: farEnd });
});

describe('FramedLineTransport', () => {
  it.each([
    ['one frame each', [listing, '{"id":3}'], [listing, '{"id":3}']],
    ['lines with their ends', [`${listing}\r\n{"id":3}\r\n`], [listing, '{"id":3}']],
    ['a line in parts', [listing.slice(0, 9), listing.slice(9, 40), `${listing.slice(40)}\r\n`], [listing]],
    ['output of the sketch, followed by a frame', ['wifi ok\r\n', 'boot', listing], ['wifi ok', `boot${listing}`]],
    ['a separate end of line', [listing, '\r\n', '{"id":3}'], [listing, '{"id":3}']],
  ])('hears %s', (_what, messages, expected) => {
    const { far, heard } = open();
    for (const message of messages) far.send(message);
    expect(heard).toEqual(expected);
  });

  it('counts the lines of a message that are more than one', () => {
    const { far, furtherLines } = open();
    far.send(listing);
    far.send('one\r\n');
    far.send('one\ntwo\n\nthree\n{"id":3}');
    expect(furtherLines).toEqual([3]);
  });

  it('sends whole lines', () => {
    const { transport, sent } = open();
    transport.send('{"id":1}');
    expect(sent).toEqual(['{"id":1}\n']);
  });

  it('drops an overlong line and continues after it', () => {
    const { far, heard, overlong } = open();
    for (let piece = 0; piece < 5; piece += 1) far.send('x'.repeat(32 * 1024));
    far.send('\n');
    far.send('{"id":3}');
    expect([heard, overlong()]).toEqual([['{"id":3}'], 1]);
  });

  it('delivers nothing of a message after it was closed in the middle of it', () => {
    const { transport, far } = open();
    const heard: string[] = [];
    transport.onmessage = (text) => {
      heard.push(text);
      transport.close('hub_closed');
    };
    far.send('{"id":1}\n{"id":2}\n');
    expect(heard).toEqual(['{"id":1}']);
  });
});
