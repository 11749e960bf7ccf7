/** The MAC addresses of the bench's devices: those of even numbers talk over WebSocket, the others over MQTT and UDP. */
export function macOf(index: number): string {
  return `02:00:0${index % 2}:00:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 0xff).toString(16).padStart(2, '0')}`;
}
