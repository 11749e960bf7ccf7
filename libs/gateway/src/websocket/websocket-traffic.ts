/** Enforces the traffic limits of a device on a WebSocket. Frames of any kind count. */
import type { RawData, WebSocket } from 'ws';
import { TrafficControl } from '../overload/traffic-control.js';
import type { TrafficControlOptions } from '../overload/traffic-control.js';

/** Returns the control, for what a frame contains besides itself. */
export function meterTraffic(
  socket: WebSocket,
  options: Omit<TrafficControlOptions, 'hold' | 'release'>,
): TrafficControl {
  const traffic = new TrafficControl({
    ...options,
    hold: () => socket.pause(),
    release: () => socket.resume(),
    cut: () => {
      // A paused socket would not receive its end.
      socket.resume();
      options.cut();
    },
  });
  socket.on('message', (data: RawData) => traffic.count(1, Buffer.isBuffer(data) ? data.length : 0));
  for (const beat of ['ping', 'pong'] as const) socket.on(beat, (data: Buffer) => traffic.count(1, data.length));
  socket.once('close', () => traffic.end());
  return traffic;
}
