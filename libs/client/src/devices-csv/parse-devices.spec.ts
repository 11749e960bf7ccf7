import { describe, expect, it } from 'vitest';
import { parseDevices, trusting } from './parse-devices.js';

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

  it('may name the Client-Id of each board, or an end of trust on first use', () => {
    const id = '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21';
    const until = '2027-04-30T18:00:00+02:00';
    const { lines, errors } = parseDevices(
      `deviceId,clientId,admitWithoutCodeUntil\na,${id},\nb,,${until}\nc,,tomorrow\nd,,2027-04-30T18:00:00\n`,
    );
    expect(lines.map(({ device }) => device)).toEqual([
      { deviceId: 'a', dialect: 'XIAOZHI', tags: [], clientId: id },
      { deviceId: 'b', dialect: 'XIAOZHI', tags: [], admitWithoutCodeUntil: until },
    ]);
    const message = expect.stringContaining('a time with a zone') as unknown;
    expect(errors).toMatchObject([4, 5].map((line) => ({ line, code: 'until', message })));
  });

  it('gets trust on first use only where it says nothing else', () => {
    const until = '2027-04-30T18:00:00Z';
    const xiaozhi = { deviceId: 'a', dialect: 'XIAOZHI' } as const;
    expect(trusting(xiaozhi, until)).toEqual({ ...xiaozhi, admitWithoutCodeUntil: until });
    for (const other of [
      { ...xiaozhi, clientId: 'c' },
      { ...xiaozhi, admitWithoutCodeUntil: 'x' },
      { deviceId: 'b', dialect: 'MCPU' } as const,
    ])
      expect(trusting(other, until)).toEqual(other);
    expect(trusting(xiaozhi, undefined)).toEqual(xiaozhi);
  });

  it('needs the address of a microcontroller only where the hub dials it', () => {
    const source = 'deviceId,dialect,transport\na,MCPU,websocket\nb,MCPU,MQTT\nc,MCPU,TCP\nd,MCPU,\n';
    const { lines, errors } = parseDevices(source);
    expect(lines.map(({ device }) => device)).toEqual([
      { deviceId: 'a', dialect: 'MCPU', transport: 'WEBSOCKET', tags: [] },
      { deviceId: 'b', dialect: 'MCPU', transport: 'MQTT', tags: [] },
    ]);
    const message = 'An MCPU device over TCP needs its address as host:port.';
    expect(errors).toMatchObject([4, 5].map((line) => ({ line, code: 'addressMissing', message })));
  });

  it('reports every invalid line', () => {
    const source = 'deviceId,dialect,transport,address\n,,,\na,MCPU,,\nb,mcpu,udp,h:1\nb,MCPU,tcp,h:1\nB,,,\n';
    expect(parseDevices(source).errors.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '2 The deviceId is missing. Add it.',
      '3 An MCPU device over TCP needs its address as host:port.',
      '4 The transport must be MQTT, WEBSOCKET, TCP or empty, not "udp".',
      '6 "B" is already on line 5. Remove one of the lines.',
    ]);
  });

  it.each([
    ['a\n', 'There is no column "a"'],
    ['deviceId,deviceid\n', 'There is no column "deviceid"'],
    ['deviceId,name, name\n', 'names the column "name" twice'],
    ['name\n', 'The first line must name the columns'],
    ['deviceId,name\n1,2,3\n', 'not valid CSV'],
    ['deviceId\n"1\n', 'not valid CSV'],
  ])('that is not a list of devices is rejected: %j', (source, message) =>
    expect(() => parseDevices(source)).toThrow(message),
  );
});
