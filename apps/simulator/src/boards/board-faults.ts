/** What broken boards do with a connection instead of serving it. A hub has to live with each. */
import type { Socket } from 'node:net';

export const boardFaults = ['mute', 'garbage', 'flooding', 'closing'] as const;
export type BoardFault = (typeof boardFaults)[number];

/** Sends what answers no request: noise, frames with unknown ids, halves of frames. */
export const garbage =
  'null\r\n{"id":0,"error":1}\r\n[]\r\n{"jsonrpc":"2.0","result":{}}\r\n{"jsonrpc":"2.0","id":31999,"result":1}\r' +
  '\n{"result":{"tools":[\r\n';
/** One line of a flood, bytes. */
export const floodLine = `${'x'.repeat(16 * 1024)}\r\n`;

export function misbehave(socket: Socket, fault: BoardFault): void {
  switch (fault) {
    case 'mute':
      break;
    case 'garbage':
      socket.on('data', () => socket.write(garbage));
      break;
    case 'closing':
      socket.destroy();
      break;
    case 'flooding':
      socket.on('drain', () => flood(socket));
      flood(socket);
  }
}

/** As much as is taken: who reads slowly is flooded slowly. */
function flood(socket: Socket): void {
  while (socket.writable && socket.write(floodLine));
}
