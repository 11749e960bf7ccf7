import { linkedPair } from './in-memory-transport.js';
import { describeTransport } from './transport.suite.js';

describeTransport('the in-memory pair', () => {
  const { near, far } = linkedPair(queueMicrotask);
  const received: string[] = [];
  far.onmessage = (text) => received.push(text);
  far.start();
  return { near, far: { send: (text) => far.send(text), close: () => far.close('hub_closed'), received } };
});
