/** MAC addresses of the devices: even numbers use WebSocket, odd ones MQTT and UDP. */
export function macOf(index: number): string {
  const hex = (byte: number) => byte.toString(16).padStart(2, '0');
  return `02:00:0${index % 2}:00:${hex(index >> 8)}:${hex(index & 0xff)}`;
}
