import { describe, expect, it } from 'vitest';
import { parseDevices } from './parse-devices.js';

describe('a file of devices', () => {
  it('may have a byte order mark, quotes, empty lines, spaces, and columns in any order', () => {
    const { lines, errors } = parseDevices(
      '\ufeffname , deviceId,tags\r\n"Lamp, left", 02:00:00:00:00:01 ,a; b;\r\n\r\n,02:00:00:00:00:02,\r\n',
    );
    expect(errors).toEqual([]);
    expect(lines).toEqual([
      { line: 2, device: { deviceId: '02:00:00:00:00:01', name: 'Lamp, left', dialect: 'XIAOZHI', tags: ['a', 'b'] } },
      { line: 4, device: { deviceId: '02:00:00:00:00:02', dialect: 'XIAOZHI', tags: [] } },
    ]);
  });

  it('tells every line that is wrong', () => {
    const source = 'deviceId,dialect,transport,address\n,,,\na,MCPU,,\nb,mcpu,udp,h:1\nb,MCPU,tcp,h:1\nB,,,\n';
    expect(parseDevices(source).errors.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '2 It has no deviceId.',
      '3 An MCPU device needs its address as host:port.',
      '4 The transport is MQTT, WEBSOCKET, TCP or nothing, not "udp".',
      '6 "B" is on line 5 already.',
    ]);
  });

  it.each([
    ['a\n', 'There is no column "a"'],
    ['deviceId,deviceid\n', 'There is no column "deviceid"'],
    ['deviceId,name, name\n', 'names the column "name" twice'],
    ['name\n', 'The first line names the columns'],
    ['deviceId,name\n1,2,3\n', 'no CSV'],
    ['deviceId\n"1\n', 'no CSV'],
  ])('that is none is refused: %j', (source, message) => expect(() => parseDevices(source)).toThrow(message));
});
