import { describe, expect, it } from 'vitest';
import { mqttAddressesOf } from '../placement/mqtt-addresses.js';
import { DeviceAddresses, publicHostProblem, publicUrlProblem } from './device-addresses.js';
import type { AddressSettings } from './device-addresses.js';

const reached = { localAddress: '192.168.7.2', host: 'other.example' };

function addresses(change: Partial<AddressSettings> = {}): DeviceAddresses {
  return new DeviceAddresses({
    publicUrl: undefined,
    publicMqtt: undefined,
    isTls: false,
    fallbackHost: '127.0.0.1',
    httpPort: () => 8080,
    mqttPort: () => 1883,
    ...change,
  });
}

describe('the addresses that devices receive', () => {
  it('contain no MQTT if the hub has none: no plain port, no certificate, and no public address', () => {
    const off = { mqttPort: () => undefined };
    expect(addresses(off).hasMqtt).toBe(false);
    expect(addresses(off).mqttEndpoint(reached)).toBeUndefined();
    expect(addresses({ ...off, isTls: true }).hasMqtt).toBe(true);
    expect(addresses({ ...off, isTls: true }).mqttEndpoint(reached)).toBe('other.example:8883');
    expect(addresses({ ...off, publicMqtt: mqttAddressesOf('mqtt.example.net') }).hasMqtt).toBe(true);
  });

  it('are by default those at which the device’s request arrived', () => {
    expect(addresses().mqttEndpoint(reached)).toBe('192.168.7.2:1883');
    expect(addresses().webSocketUrl(reached)).toBe('ws://192.168.7.2:8080/xiaozhi/v1/');
  });

  it('are the public ones if they are set', () => {
    const issued = addresses({
      publicUrl: 'https://hub.example.net/flotilla/',
      publicMqtt: mqttAddressesOf('mqtt.example.net:8883'),
    });
    expect(issued.mqttEndpoint(reached)).toBe('mqtt.example.net:8883');
    expect(issued.webSocketUrl(reached)).toBe('wss://hub.example.net:443/flotilla/xiaozhi/v1/');
    expect(issued.otaUrl('abc')).toBe('https://hub.example.net:443/flotilla/ota/abc/');
  });

  it('are one of several public MQTT addresses, the same for a device as long as it is named', () => {
    const named = new Set(['a:8883', 'b:8883', 'c:8883']);
    const issued = addresses({ publicMqtt: mqttAddressesOf('a,b,c'), isNamed: (endpoint) => named.has(endpoint) });
    const chosen = issued.mqttEndpoint(reached, 'device') ?? '';
    expect(named).toContain(chosen);
    expect(issued.mqttEndpoint({ ...reached, deviceId: 'device' })).toBe(chosen);
    named.delete(chosen);
    expect(named).toContain(issued.mqttEndpoint(reached, 'device'));
    named.clear();
    expect(issued.mqttEndpoint(reached, 'device')).toBe(chosen);
  });

  it('have a host where no request shows one', () => {
    expect(addresses({ publicUrl: 'http://hub.example.net:8080' }).host).toBe('hub.example.net');
    expect(addresses().host).toBe('127.0.0.1');
  });

  it('use the host of the public URL for MQTT if only that is set', () => {
    expect(addresses({ publicUrl: 'http://hub.example.net' }).mqttEndpoint(reached)).toBe('hub.example.net:1883');
  });

  it('include the port that a device would otherwise guess', () => {
    expect(addresses({ publicMqtt: mqttAddressesOf('mqtt.example.net') }).mqttEndpoint(reached)).toBe(
      'mqtt.example.net:8883',
    );
    expect(addresses({ publicUrl: 'http://hub.example.net' }).webSocketUrl(reached)).toBe(
      'ws://hub.example.net:80/xiaozhi/v1/',
    );
  });

  it('never contain an IPv6 address: the Host header is used instead, or none', () => {
    expect(addresses().mqttEndpoint({ localAddress: 'fe80::1', host: 'hub.local:8080' })).toBe('hub.local:1883');
    expect(addresses().mqttEndpoint({ localAddress: 'fe80::1', host: '[fe80::1]:8080' })).toBeUndefined();
    expect(addresses().webSocketUrl({ localAddress: undefined, host: 'a/b@c:1:2' })).toBeUndefined();
    expect(addresses().mqttEndpoint({ localAddress: '0:0', host: undefined })).toBeUndefined();
  });

  it('use TLS and the name that the device used if the hub has a certificate', () => {
    const issued = addresses({ isTls: true });
    expect(issued.webSocketUrl(reached)).toBe('wss://other.example:8080/xiaozhi/v1/');
    expect(issued.mqttEndpoint(reached)).toBe('other.example:8883');
    expect(addresses({ isTls: true, publicUrl: 'https://hub.example.net' }).mqttEndpoint(reached)).toBe(
      'hub.example.net:8883',
    );
    expect(addresses().otaUrl()).toBe('http://127.0.0.1:8080/ota/');
  });
});

describe('public addresses that would restart devices in a loop', () => {
  it.each([
    'hub.example.net',
    'ftp://hub.example.net',
    'http://[::1]:8080',
    'http://user@hub.example.net',
    'http://hub.example.net/a:b',
    'http://hub.example.net/?a=1',
  ])('are rejected: the URL %j', (text) => expect(publicUrlProblem(text)).toMatch(/^must /));

  it('are distinguished from valid ones', () => {
    for (const text of ['https://hub.example.net', 'http://192.0.2.4:8080/flotilla'])
      expect(publicUrlProblem(text)).toBeUndefined();
  });
});

describe('FLOTILLA_PUBLIC_HOST', () => {
  it.each(['hub', 'hub.example.net', '192.0.2.4', '7.example.net'])('may be %j', (text) =>
    expect(publicHostProblem(text)).toBeUndefined(),
  );

  it.each(['99999999999', '192.0.2.256', '10.0.7', 'hub:8884', 'http://hub', '-hub', '.', '::1'])(
    'may not be %j',
    (text) => expect(publicHostProblem(text)).toMatch(/^must be a host name/),
  );
});
